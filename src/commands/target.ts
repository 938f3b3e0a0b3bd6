import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { ProtocolCliError } from '../errors.js';
import { validate } from '../protocol/validate.js';
import { readJson } from '../text/json.js';
import { jsonTrouble } from './json-trouble.js';

/** Which tool is called. */
export type Target =
  | { readonly kind: 'url'; readonly url: string }
  /** POST straight to this URL, no discovery. */
  | { readonly kind: 'endpoint'; readonly url: string }
  | { readonly kind: 'demo' }
  /** A command that starts a server and prints `{"port":N}`. */
  | { readonly kind: 'command'; readonly command: string };

/** A target that has a toolset. */
export type ServerTarget = Exclude<Target, { kind: 'endpoint' }>;

export interface TargetOptions {
  readonly demo?: boolean;
  readonly command?: string;
  readonly endpoint?: boolean;
}

const CONFIG = join('.infinity', 'rap.json');

const configSchema = z.object({
  tool_sets: z
    .array(
      z.discriminatedUnion('type', [
        z.object({ type: z.literal('toolset_server'), server_url: z.url() }),
        z.object({ type: z.literal('toolset_command'), command: z.string().check(z.minLength(1)) }),
      ]),
    )
    .check(z.minLength(1)),
});

/**
 * Splits the words of the command line into the target and the rest: with `--demo` or `--command` there is no URL,
 * and without any of them the servers of `.infinity/rap.json` are meant (null).
 * @throws ProtocolCliError `usage`.
 */
export function readTarget(
  words: readonly string[],
  options: TargetOptions,
): { target: Target | null; rest: readonly string[] } {
  refuseContradictions(words, options);
  if (options.demo) return { target: { kind: 'demo' }, rest: words };
  if (options.command !== undefined)
    return { target: { kind: 'command', command: options.command }, rest: words };
  const [first = '', ...rest] = words;
  const url = asUrl(first);
  if (url) return { target: { kind: options.endpoint ? 'endpoint' : 'url', url }, rest };
  if (options.endpoint)
    throw new ProtocolCliError('usage', '--endpoint needs the URL of the endpoint first', { hint: URL_HINT });
  return { target: null, rest: words };
}

function refuseContradictions(
  [first = '']: readonly string[],
  { demo, command, endpoint }: TargetOptions,
): void {
  const named = demo ? '--demo' : command === undefined ? null : '--command';
  if (demo && command !== undefined)
    throw new ProtocolCliError('usage', '--demo and --command exclude each other');
  if (named && endpoint) throw new ProtocolCliError('usage', '--endpoint needs the URL of the endpoint');
  if (named && first.includes('://'))
    throw new ProtocolCliError('usage', `${named} and a URL exclude each other`);
}

const URL_HINT =
  'For example: protocol-cli invoke http://127.0.0.1:3001/invoke edit_file path=a.txt --endpoint';

/** A URL, or what curl would take for one: `localhost:3001`, `:3001`. Null for a word that is none. */
export function asUrl(word: string): string | null {
  const short = /^:\d+(\/|$)/.test(word) ? `127.0.0.1${word}` : word;
  const full = /^[\w.-]+:\d+(\/|$)|^localhost(\/|$)|^[\w-]+(\.[\w-]+)+(\/|$)|^\[[\da-f:]+\]/i.test(short)
    ? `http://${short}`
    : short;
  if (/^\d+$/.test(word) || /^https?:(?!\/\/)/i.test(word))
    throw new ProtocolCliError('usage', `${word} is no URL`, {
      hint: 'A tool server is given as http://host:port, or :port for this machine.',
    });
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(full)) return null;
  if (!/^https?:/i.test(full))
    throw new ProtocolCliError('usage', `${word} is no http or https URL`, {
      hint: 'A tool server is given as http://host:port.',
    });
  if (!URL.canParse(full))
    throw new ProtocolCliError('usage', `${word} is no valid URL`, {
      hint: 'A tool server is given as http://host:port.',
    });
  if (new URL(full).username !== '' || new URL(full).password !== '')
    throw new ProtocolCliError('usage', 'credentials in a URL are not sent', {
      hint: "Use --bearer env:NAME or -H 'Authorization: …' instead.",
    });
  return full;
}

const NAME_A_TOOL =
  'Give its URL (protocol-cli invoke http://127.0.0.1:3001 …), --command, or --demo to try the bundled one.';

/**
 * The servers of `.infinity/rap.json`: the project's, then the home folder's.
 * @param hint how else a tool can be named
 * @throws ProtocolCliError `usage` where there is none, `unreadable-file` where it is broken.
 */
export async function configuredTargets(
  folders: readonly string[],
  hint = NAME_A_TOOL,
): Promise<ServerTarget[]> {
  for (const folder of folders) {
    const path = join(folder, CONFIG);
    const bytes = await readFile(path).catch(() => null);
    if (bytes) return targetsOf(path, bytes);
  }
  throw new ProtocolCliError('usage', 'no tool is named', {
    hint: `${hint} There is no ${CONFIG} here or in your home folder either.`,
  });
}

function targetsOf(path: string, bytes: Uint8Array): ServerTarget[] {
  const json = readJson(bytes);
  const config = json.ok
    ? validate(configSchema, json.value)
    : { ...json, faults: [jsonTrouble(bytes, json.reason)] };
  if (!config.ok)
    throw new ProtocolCliError('unreadable-file', `${path} is not valid`, { faults: config.faults });
  return config.value.tool_sets.map(each =>
    each.type === 'toolset_server'
      ? { kind: 'url', url: each.server_url }
      : { kind: 'command', command: each.command },
  );
}
