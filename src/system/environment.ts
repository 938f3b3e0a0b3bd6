/** What a command reaches without a proxy: our tools, runtimes and callback listeners. */
const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

/** Our environment, with more variables. Many HTTP clients send requests for loopback addresses to a proxy unless `NO_PROXY` names these. */
export function environmentWith(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const env = { ...process.env, ...more };
  const isProxied = Object.keys(env).some(name => /^(?:https?|all)_proxy$/i.test(name) && env[name]);
  if (!isProxied) return env;
  const known = env['no_proxy'] || env['NO_PROXY'] || '';
  const names = known.split(',').flatMap(name => name.trim() || []);
  const all = [...names, ...LOOPBACK.filter(name => !names.includes(name))].join(',');
  return { ...env, NO_PROXY: all, no_proxy: all };
}
