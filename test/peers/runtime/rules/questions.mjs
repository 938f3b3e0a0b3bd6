const LOOPBACK = /^http:\/\/(localhost|127(\.\d+){3}|\[::1\])(:\d+)?\//;
const TOKEN = /"(access|refresh|id)_token"|[?&](access_token|refresh_token|code)=/;

/** A question can be answered, consent can be given safely, and neither gives anything away. */
export function* questionFaults({ callbacks, selections }) {
  const hasConsent = callbacks.some(({ body }) => body?.type === 'oauth');
  for (const [index, { body, raw }] of callbacks.entries()) {
    const fault = (id, why) => ({ id, why: `callback ${index + 1}: ${why}` });
    if (body?.type === 'user_choice') for (const why of choiceFaults(body)) yield fault('TOOL-CHOICE', why);
    if (body?.type === 'oauth' && !isSafe(body.auth_url)) yield fault('TOOL-OAUTH', 'auth_url is not HTTPS');
    if (hasConsent && TOKEN.test(raw)) yield fault('TOOL-OAUTH', 'a token or code is in the message');
  }
  const [first] = selections;
  if (first && first.status !== 200)
    yield { id: 'TOOL-CHOICE', why: `response_url answered ${first.status} to selection ${first.selected}` };
}

function* choiceFaults({ choices, default: index, response_url }) {
  if (!Array.isArray(choices) || choices.length === 0) yield 'there is nothing to choose from';
  else if (!(Number.isInteger(index) && index >= 0 && index < choices.length)) yield `default is ${index}`;
  if (!/^https?:\/\//.test(response_url)) yield `response_url is ${response_url}`;
}

function isSafe(url) {
  return typeof url === 'string' && (url.startsWith('https://') || LOOPBACK.test(url));
}
