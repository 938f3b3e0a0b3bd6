import { spawn } from 'node:child_process';
import { errnoOf, messageOf } from '../util/errors.js';
import { isSafeToVisit } from '../util/url.js';
import { endText, exitOf } from './exit.js';
import { system32 } from './system32.js';

interface Desktop {
  readonly platform?: NodeJS.Platform;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Opens a page in the user's browser, only on request (threats, row 13). The URL is serialized by the URL parser, so it begins with
 * `http`, and is not parsed by a shell. Resolves when the opening program has ended.
 */
export async function openUrl(
  url: string,
  { platform = process.platform, env = process.env }: Desktop = {},
): Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: string }> {
  if (!isSafeToVisit(url)) return { ok: false, reason: 'only an https page is opened (http on loopback)' };
  const [command, ...args] = openerOf(platform, env);
  try {
    const options = { env: { ...env }, stdio: 'ignore', detached: true } as const;
    const opener = spawn(command, [...args, new URL(url).href], options);
    opener.unref();
    const exit = await exitOf(opener);
    return exit.code === 0 ? { ok: true } : { ok: false, reason: `${command} ${endText(exit)}` };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { ok: false, reason: `${command} was not found` };
    return { ok: false, reason: `${command} could not be started: ${messageOf(error)}` };
  }
}

function openerOf(platform: NodeJS.Platform, env: Desktop['env'] = {}): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open'];
  if (platform !== 'win32') return ['xdg-open'];
  return [system32('rundll32.exe', env), 'url.dll,FileProtocolHandler'];
}
