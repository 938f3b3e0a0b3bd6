import { ProtocolCliError } from '../errors.js';
import type { McpTarget as McpServerTarget } from '../runtime/mcp/connection.js';

/** Which tool is called. */
export type Target =
  | { readonly kind: 'url'; readonly url: string }
  /** POST straight to this URL, no discovery. */
  | { readonly kind: 'endpoint'; readonly url: string }
  | { readonly kind: 'demo' }
  /** A command that starts a server and prints `{"port":N}`. */
  | { readonly kind: 'command'; readonly command: string; readonly cwd?: string };

/** A target that has a toolset. */
export type ServerTarget = Exclude<Target, { kind: 'endpoint' }>;

/** An MCP server of `.infinity/rap.json`, which is offered as a RAP toolset. */
export interface McpTarget {
  readonly kind: 'mcp';
  readonly name: string;
  readonly server: McpServerTarget;
}

/** A tool server that `.infinity/rap.json` can name. */
export type ConfiguredTarget = ServerTarget | McpTarget;

/** The command that starts the server; null where none is started. */
export function commandOf(target: ConfiguredTarget): string | null {
  if (target.kind === 'command') return target.command;
  return target.kind === 'mcp' && target.server.kind === 'stdio' ? target.server.name : null;
}

export interface TargetOptions {
  readonly demo?: boolean;
  readonly command?: string;
  readonly endpoint?: boolean;
}

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
