import { readFile } from 'node:fs/promises';
import type { FixtureSet } from '../fixtures/fixture-set.js';
import { shippedFile } from '../package-root.js';
import type { McpTarget as McpServerTarget } from '../runtime/mcp/connection.js';
import type { Credentials } from '../runtime/notices.js';
import { ProtocolCliError } from '../util/errors.js';
import { decodeUtf8, jsonFault } from '../util/json.js';

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

/** A URL, also a short one as for curl: `localhost:3001`, `:3001`. Null for other words. */
export function asUrl(word: string): string | null {
  const short = /^:\d+(\/|$)/.test(word) ? `127.0.0.1${word}` : word;
  const full = /^[\w.-]+:\d+(\/|$)|^localhost(\/|$)|^[\w-]+(\.[\w-]+)+(\/|$)|^\[[\da-f:]+\]/i.test(short)
    ? `http://${short}`
    : short;
  if (/^\d+$/.test(word) || /^https?:(?!\/\/)/i.test(word))
    throw new ProtocolCliError('usage', `invalid URL: ${word}`, {
      hint: 'Write http://host:port, or :port for this machine.',
    });
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(full)) return null;
  if (!/^https?:/i.test(full))
    throw new ProtocolCliError('usage', `unsupported URL: ${word}; use http or https`, {
      hint: 'Write http://host:port.',
    });
  if (!URL.canParse(full))
    throw new ProtocolCliError('usage', `invalid URL: ${word}`, {
      hint: 'Write http://host:port.',
    });
  if (new URL(full).username !== '' || new URL(full).password !== '')
    throw new ProtocolCliError('usage', 'credentials in a URL are not sent', {
      hint: "Use --bearer env:NAME or -H 'Authorization: …' instead.",
    });
  return full;
}

export interface HeaderOptions {
  readonly header?: readonly string[];
  readonly bearer?: string;
}

/** The connection's own headers, which are not a user's to set. */
const RESERVED = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'content-type',
  'content-encoding',
  'accept-encoding',
]);

/** What the options are called: they may be for one server of several. */
interface Names {
  readonly header: string;
  readonly bearer: string;
}

const NAMES: Names = { header: '-H', bearer: '--bearer' };

/**
 * The headers a user gave, by lower-case name.
 * @throws ProtocolCliError `usage`.
 */
export function readHeaders(
  { header = [], bearer }: HeaderOptions,
  env: Environment,
  names = NAMES,
): Record<string, string> {
  const headers = Object.fromEntries(header.map(text => parseHeader(text, env, names.header)));
  if (bearer === undefined) return headers;
  return { ...headers, authorization: `Bearer ${fromEnvironment(bearer, env, names.bearer)}` };
}

/** The same for the origin of `url`, and only for it (threats, row 12). */
export function readCredentials(options: HeaderOptions, url: string, env: Environment): Credentials {
  return { origin: new URL(url).origin, headers: readHeaders(options, env) };
}

type Environment = Readonly<Record<string, string | undefined>>;

function parseHeader(text: string, env: Environment, option: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):\s*(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined || !HEADER_VALUE.test(value))
    throw new ProtocolCliError(
      'usage',
      `${option === NAMES.header ? '--header' : option}: expected "Name: value"`,
      {
        hint: `For example: ${option} 'X-Api-Key: 123'`,
      },
    );
  if (RESERVED.has(name.toLowerCase()))
    throw new ProtocolCliError('usage', `the header ${name} belongs to the connection and cannot be set`);
  const given = fromEnvironment(value.trim(), env, option);
  if (!HEADER_VALUE.test(given))
    throw new ProtocolCliError(
      'usage',
      `${option}: ${value.trim()} contains characters that headers cannot have`,
    );
  return [name.toLowerCase(), given];
}

const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/** A value as it is, or after `env:` that of a variable: it stands in no process list then. */
function fromEnvironment(given: string, env: Environment, option: string): string {
  if (!given.startsWith('env:')) return given;
  const name = given.slice('env:'.length);
  const value = env[name];
  if (value) return value;
  throw new ProtocolCliError('usage', `${option}: the environment variable ${name} is not set`);
}

/** The toolset that comes with the program. */
export async function demoFixtures(): Promise<FixtureSet> {
  const { parseFixtures } = await import('../fixtures/reading/check-set.js');
  return parseFixtures(JSON.parse(await readFile(shippedFile('fixtures/demo.json'), 'utf8')), 'demo.json');
}

/** Why a file is no JSON, with the line and the column where that begins to show; `reason` where there is no such place. */
export function jsonTrouble(bytes: Uint8Array, reason: string): string {
  const text = decodeUtf8(bytes);
  const fault = text === null ? null : jsonFault(text.replace(/^\uFEFF/, ''));
  return fault ? `line ${fault.line}, column ${fault.column}: ${fault.message}` : reason;
}
