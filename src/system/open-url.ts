import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { isSafeToVisit } from '../util/url.js';
import { errnoOf } from './errno.js';

/** The result of {@link openUrl}. */
export type Opening = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/** Default: this machine. */
export interface Desktop {
  readonly platform?: NodeJS.Platform;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Opens a page in the user's browser, only at their request (threats, row 13). No shell reads the URL, and the URL parser writes it, so
 * it begins with `http`. Resolves when the opening program has ended.
 */
export function openUrl(
  url: string,
  { platform = process.platform, env = process.env }: Desktop = {},
): Promise<Opening> {
  if (!isSafeToVisit(url)) return Promise.resolve(failed('only an https page is opened (http on loopback)'));
  const [command, ...args] = openerOf(platform, env);
  return new Promise<Opening>(resolve => {
    const opener = spawn(command, [...args, new URL(url).href], {
      env: { ...env },
      stdio: 'ignore',
      detached: true,
    });
    opener.once('error', error => resolve(failed(notStarted(command, error))));
    opener.once('exit', (code, signal) =>
      resolve(code === 0 ? { ok: true } : failed(`${command} ended with ${signal ?? `status ${code}`}`)),
    );
    opener.unref();
  }).catch(error => failed(notStarted(command, error)));
}

function openerOf(platform: NodeJS.Platform, env: Desktop['env'] = {}): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open'];
  if (platform !== 'win32') return ['xdg-open'];
  // The full path, since Windows searches the current folder first.
  const system = join(env['SystemRoot'] ?? 'C:\\Windows', 'System32');
  return [join(system, 'rundll32.exe'), 'url.dll,FileProtocolHandler'];
}

function notStarted(command: string, error: unknown): string {
  if (errnoOf(error) === 'ENOENT') return `${command} was not found`;
  return `${command} could not be started: ${error instanceof Error ? error.message : String(error)}`;
}

function failed(reason: string): Opening {
  return { ok: false, reason };
}
