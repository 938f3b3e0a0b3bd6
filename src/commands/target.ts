import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { FixtureSet } from '../fixtures/fixture-set.js';
import { isWildcard } from '../http/guard.js';
import { shippedFile } from '../package-root.js';
import type { Warning } from '../protocol/requirements.js';
import type { ListenerOptions } from '../runtime/callback-server.js';
import type { McpPeer, McpTarget } from '../runtime/mcp/link.js';
import { jsonFault } from '../util/json-fault.js';
import { decodeUtf8 } from '../util/text.js';
import type { HeaderOptions } from './headers.js';
import { usageError } from './options.js';

/** The tool to call. */
export type Target =
  | { readonly kind: 'url'; readonly url: string }
  /** POST directly to this URL, without discovery. */
  | { readonly kind: 'endpoint'; readonly url: string }
  | { readonly kind: 'demo' }
  | StartedTarget;

/** A command that starts a server. */
export interface StartedTarget {
  readonly kind: 'command';
  readonly command: string;
  readonly cwd?: string;
  /** Where it serves; without it, it prints `{"port":N}`. */
  readonly url?: string;
  /** How long it may take to start, in ms; default: 10 s. */
  readonly readyWithinMs?: number | undefined;
}

/** A target that has a toolset. */
export type ServerTarget = Exclude<Target, { kind: 'endpoint' }>;

/** An MCP server of `.infinity/rap.json`, which is offered as a RAP toolset. */
interface McpEntry {
  readonly kind: 'mcp';
  readonly name: string;
  readonly server: McpTarget;
}

/** A tool server that `.infinity/rap.json` can name. */
export type ConfiguredTarget = ServerTarget | McpEntry;

/** Returns the command that starts the server, if any. */
export function commandOf(target: ConfiguredTarget): string | null {
  if (target.kind === 'command') return target.command;
  return target.kind === 'mcp' && target.server.kind === 'stdio' ? target.server.name : null;
}

/** The words by which `invoke` finds the server. @param url where it serves RAP */
export function targetWords(target: ConfiguredTarget, url: string): readonly string[] {
  if (target.kind === 'demo') return ['--demo'];
  if (target.kind === 'mcp') return ['--mcp', target.server.name];
  return target.kind === 'command' ? ['--command', target.command] : [url];
}

export interface TargetOptions {
  readonly demo?: boolean;
  readonly command?: string;
  readonly readyTimeout?: number;
  readonly endpoint?: boolean;
}

/** The target, or null, and the words after it. */
export interface TargetAndRest {
  readonly target: Target | null;
  readonly rest: readonly string[];
}

/**
 * Splits the words of the command line into the target and the rest. A URL beside `--command` is that of its server. Without any target the result is null, which means the servers of `.infinity/rap.json`.
 * @throws ProtocolCliError `usage`.
 */
export function readTarget(words: readonly string[], options: TargetOptions): TargetAndRest {
  refuseContradictions(options);
  const { demo, command, readyTimeout, endpoint } = options;
  const [first = '', ...rest] = words;
  if (demo) {
    if (first.includes('://') || /^:\d/.test(first)) throw usageError('--demo and a URL exclude each other');
    return { target: { kind: 'demo' }, rest: words };
  }
  const url = asUrl(first);
  if (command !== undefined) {
    const started = { kind: 'command', command, readyWithinMs: readyTimeout } as const;
    return url ? { target: { ...started, url }, rest } : { target: started, rest: words };
  }
  if (url) return { target: { kind: endpoint ? 'endpoint' : 'url', url }, rest };
  if (!endpoint) return { target: null, rest: words };
  throw usageError(
    '--endpoint needs the URL of the endpoint first',
    'For example: protocol-cli invoke http://127.0.0.1:3001/invoke edit_file path=a.txt --endpoint',
  );
}

/** @throws ProtocolCliError `usage` */
function refuseContradictions({ demo, command, readyTimeout, endpoint }: TargetOptions): void {
  if (demo && command !== undefined) throw usageError('--demo and --command exclude each other');
  if (endpoint && (demo || command !== undefined))
    throw usageError('--endpoint needs the URL of the endpoint');
  if (readyTimeout !== undefined && command === undefined)
    throw usageError('--ready-timeout needs --command');
}

/** A URL without its scheme, as for curl: `localhost:3001`, `host.example/path`, `[::1]:3001`. */
const BARE_URL = /^[\w.-]+:\d+(\/|$)|^localhost(\/|$)|^[\w-]+(\.[\w-]+)+(\/|$)|^\[[\da-f:]+\]/i;

const URL_HINT = 'Write http://host:port.';

const PROGRAM = /\.(?:[cm]?[jt]sx?|py|rb|sh|go|rs|java|jar|php|exe)$/i;

/** The name of a file whose ending could also be the end of a host name: `server.py`, `run.md`. */
const FILE_NAME =
  /^(?:\.{0,2}[/\\][^:=]*|[^:=/\\]+)\.(?:[cm]?[jt]sx?|py|rb|sh|go|rs|java|jar|php|exe|md|txt|log|csv|html?|har|json[5l]?|ndjson|ya?ml|toml|xml)$/i;

/** Whether a word can only be meant as the name of a file. */
export function isFileName(word: string): boolean {
  return FILE_NAME.test(word);
}

/** Whether a word is the name of a program, which `--command` can start. */
export function isProgramName(word: string): boolean {
  return PROGRAM.test(word) && !word.includes(':');
}

/** Without this, the name of a file is taken for a host. @throws ProtocolCliError `usage` */
function refuseFile(word: string): void {
  const isPath = /[./\\]/.test(word) && !/:\/\/|=/.test(word);
  const found = isPath ? statSync(word, { throwIfNoEntry: false }) : undefined;
  if (!found && !isFileName(word)) return;
  const what = found?.isDirectory() ? 'a folder' : 'the name of a file';
  const host = found ? '' : ` For a host of this name, write http://${word}.`;
  throw usageError(
    `${word} is ${what}, not the URL of a server`,
    isProgramName(word)
      ? `Give the URL that it serves, such as :3001. invoke, toolset and check can also start it, with --command.${host}`
      : `Give the URL of a server, such as :3001. protocol-cli render shows saved messages, toolsets and transcripts.${host}`,
  );
}

/** Parses a URL, also a short one: `localhost:3001`, `:3001`. Returns null for other words. @throws ProtocolCliError `usage`. */
export function asUrl(word: string): string | null {
  refuseFile(word);
  if (/^\d+$/.test(word) || /^https?:(?!\/\/)/i.test(word))
    throw usageError(`invalid URL: ${word}`, 'Write http://host:port, or :port for this machine.');
  const host = /^:\d+(\/|$)/.test(word) ? `127.0.0.1${word}` : word;
  const full = BARE_URL.test(host) ? `http://${host}` : host;
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(full)) return null;
  if (!/^https?:/i.test(full)) throw usageError(`unsupported URL: ${word}; use http or https`, URL_HINT);
  if (!URL.canParse(full)) throw usageError(`invalid URL: ${word}`, URL_HINT);
  const { username, password } = new URL(full);
  if (username === '' && password === '') return full;
  throw usageError(
    'credentials in a URL are not sent',
    'Use --bearer env:NAME or -H "Authorization: …" instead.',
  );
}

/** Parses a URL. @throws ProtocolCliError `usage`. */
export function requireUrl(word: string, what = 'URL'): string {
  const url = asUrl(word);
  if (url) return url;
  throw usageError(`invalid ${what}: ${word}`, 'Write http://host:port, or :port for this machine.');
}

/** A URL, or a short one with a port as for curl; not a file name such as `server.js`. */
const URL_LIKE = /^(?:[a-z][a-z\d+.-]*:\/\/\S+|:\d+(?:\/\S*)?|[\w.-]+:\d+(?:\/\S*)?|localhost(?:\/\S*)?)$/i;

/** `--mcp`: parses a URL, or a command that starts a server, which receives no headers. @throws ProtocolCliError `usage`. */
export function readMcpTarget(value: string, { header, bearer }: HeaderOptions): McpPeer {
  const given = value.trim();
  if (given === '')
    throw usageError(
      '--mcp needs the URL or the command of an MCP server',
      'For example: --mcp http://127.0.0.1:3000/mcp, or --mcp "node server.mjs"',
    );
  const url = URL_LIKE.test(given) ? asUrl(given) : null;
  if (url !== null) return { kind: 'http', name: url };
  const headers = [...(header ? ['--header'] : []), ...(bearer === undefined ? [] : ['--bearer'])].join(', ');
  if (headers === '') return { kind: 'stdio', name: given };
  throw usageError(
    `a started command does not receive ${headers}`,
    'Use its environment or its own options.',
  );
}

/** Options of the listener for callbacks. */
export interface ListenerFlags {
  readonly callbackHost: string;
  readonly callbackPort: number;
  readonly callbackUrl?: string;
  readonly allowHost?: readonly string[];
  /** Maximum size of a callback, in bytes. */
  readonly maxBody: number;
}

export function listenerOf(flags: ListenerFlags): ListenerOptions {
  const { callbackHost: host, callbackPort: port, callbackUrl: publicUrl, allowHost = [], maxBody } = flags;
  return { host, port, publicUrl, allowedHosts: allowHost, maxBody };
}

/** Returns a warning if the listener is open to the network (threats, row 5). */
export function listenerWarnings({ host }: ListenerOptions): Warning[] {
  if (!isWildcard(host)) return [];
  return [{ message: `the callback listener is open to the network (--callback-host ${host})` }];
}

/** Loads the demo toolset of this package. */
export async function demoFixtures(): Promise<FixtureSet> {
  const { parseFixtures } = await import('../fixtures/read-fixtures.js');
  return parseFixtures(JSON.parse(await readFile(shippedFile('fixtures/demo.json'), 'utf8')), 'demo.json');
}

/** Returns why a file is not JSON, with the line and the column if known; otherwise `reason`. */
export function jsonTrouble(bytes: Uint8Array, reason: string): string {
  const text = decodeUtf8(bytes);
  const fault = text === null ? null : jsonFault(text.replace(/^\uFEFF/, ''));
  return fault ? `line ${fault.line}, column ${fault.column}: ${fault.message}` : reason;
}
