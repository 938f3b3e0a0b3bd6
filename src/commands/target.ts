import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Event, Fact } from '../events/events.js';
import type { Exchange } from '../events/exchange.js';
import type { Log } from '../events/log.js';
import type { FixtureSet } from '../fixtures/fixture-set.js';
import { isWildcard } from '../http/guard.js';
import { createNodeClient } from '../http/node-client.js';
import { shippedFile } from '../package-root.js';
import type { Warning } from '../protocol/requirements.js';
import type { ListenerOptions } from '../runtime/callback-server.js';
import type { McpPeer, McpTarget } from '../runtime/mcp/transports.js';
import type { Exit } from '../system/child.js';
import { finishedWithin } from '../system/process.js';
import type { Sink } from '../system/streams.js';
import { type Environment, isHeader, reservedHeader, valueOrVariable } from '../util/headers.js';
import { jsonFault } from '../util/json.js';
import { decodeUtf8, joinFirst, truncate } from '../util/text.js';
import { visible } from '../util/visible.js';
import { usageError } from './options.js';
import type { OnStop } from './terminal.js';

/** The tool to call. */
type Target =
  | { readonly kind: 'url'; readonly url: string }
  /** POST directly to this URL, without discovery. */
  | { readonly kind: 'endpoint'; readonly url: string }
  | { readonly kind: 'demo' }
  | StartedTarget;

/** A command that starts a server. */
interface StartedTarget {
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

/** The exit of a started server that was not stopped. */
export interface ServerExit {
  /** `exited with status 3` */
  readonly how: string;
  /** The last lines of its stderr. */
  readonly lastLines: readonly string[];
}

interface ReachOptions {
  /** Registers how to stop a started server, even while it is starting. */
  readonly onStop: OnStop;
  /** Ends the wait for a server to become ready. */
  readonly signal: AbortSignal;
  readonly onStarted?: (command: { readonly exited: Promise<unknown> }) => void;
  readonly onServerExit?: (exit: ServerExit) => void;
  /** Receives what a started server writes to stderr, in whole lines, so that a secret is not cut in two. */
  readonly onStderr?: Sink;
  /** Receives warnings about a toolset that was only partly loaded. */
  readonly onWarning?: (message: string) => void;
  /** Receives remarks about a server that is starting. */
  readonly onRemark?: (message: string) => void;
}

export interface TargetOptions {
  readonly demo?: boolean;
  readonly command?: string;
  readonly readyTimeout?: number;
  readonly endpoint?: boolean;
}

/**
 * Splits the words of the command line into the target and the rest. A URL beside `--command` is that of its server. Without any target the result is null, which means the servers of `.infinity/rap.json`.
 * @throws ProtocolCliError `usage`.
 */
export function readTarget(
  words: readonly string[],
  options: TargetOptions,
): { target: Target | null; rest: readonly string[] } {
  refuseContradictions(options);
  const { demo, command, readyTimeout, endpoint } = options;
  const [first = '', ...rest] = words;
  if (demo) {
    if (first.includes('://')) throw usageError('--demo and a URL exclude each other');
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

/** Parses a URL, also a short one: `localhost:3001`, `:3001`. Returns null for other words. @throws ProtocolCliError `usage`. */
export function asUrl(word: string): string | null {
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
    "Use --bearer env:NAME or -H 'Authorization: …' instead.",
  );
}

/** Parses a URL. @throws ProtocolCliError `usage`. */
export function requireUrl(word: string, what = 'URL'): string {
  const url = asUrl(word);
  if (url) return url;
  throw usageError(`invalid ${what}: ${word}`, 'Write http://host:port, or :port for this machine.');
}

export interface HeaderOptions {
  readonly header?: readonly string[];
  readonly bearer?: string;
}

/** A URL, or a short one with a port as for curl; not a file name such as `server.js`. */
const URL_LIKE = /^(?:[a-z][a-z\d+.-]*:\/\/\S+|:\d+(?:\/\S*)?|[\w.-]+:\d+(?:\/\S*)?|localhost(?:\/\S*)?)$/i;

/** `--mcp`: parses a URL, or a command that starts a server, which receives no headers. @throws ProtocolCliError `usage`. */
export function readMcpTarget(value: string, { header, bearer }: HeaderOptions): McpPeer {
  const given = value.trim();
  if (given === '')
    throw usageError(
      '--mcp needs the URL or the command of an MCP server',
      "For example: --mcp http://127.0.0.1:3000/mcp, or --mcp 'node server.mjs'",
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

/**
 * Returns the headers of the options, by lower-case name.
 * @param names of the options
 * @throws ProtocolCliError `usage`.
 */
export function readHeaders(
  { header = [], bearer }: HeaderOptions,
  env: Environment,
  names = { header: '-H', bearer: '--bearer' },
): Record<string, string> {
  const headers = Object.fromEntries(header.map(text => parseHeader(text, env, names.header)));
  if (bearer === undefined) return headers;
  return { ...headers, authorization: `Bearer ${fromEnvironment(bearer, env, names.bearer)}` };
}

function parseHeader(text: string, env: Environment, option: string): [string, string] {
  const [, name = '', value = ''] = /^([^:]*):\s*(.*)$/s.exec(text) ?? [];
  if (!isHeader(name, value))
    throw usageError(
      `${option === '-H' ? '--header' : option}: expected "Name: value"`,
      `For example: ${option} 'X-Api-Key: 123'`,
    );
  const reserved = reservedHeader(name);
  if (reserved !== null) throw usageError(reserved);
  const given = fromEnvironment(value.trim(), env, option);
  if (isHeader(name, given)) return [name.toLowerCase(), given];
  throw usageError(`${option}: ${value.trim()} contains characters that headers cannot have`);
}

/** Returns the value, or for `env:NAME` that of the variable. @throws ProtocolCliError `usage` */
export function fromEnvironment(given: string, env: Environment, option: string): string {
  const found = valueOrVariable(given, env);
  if ('missing' in found) throw usageError(`${option}: ${found.missing}`);
  return found.value;
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

/**
 * Returns the URL of a tool server. The demo and MCP servers are served from this process; a command is started.
 * @throws ProtocolCliError `command-failed`; for an MCP server also `unreachable` and `no-discovery`.
 */
export async function startTarget(
  target: ConfiguredTarget,
  { onStderr, ...options }: ReachOptions,
): Promise<string> {
  const lines = onStderr && byLine(onStderr);
  if (lines) options.onStop(async () => lines.end()); // after the server has stopped
  const output = lines && { onStderr: lines.add };
  switch (target.kind) {
    case 'url':
      return target.url;
    case 'demo': {
      const { startMockTool } = await import('../mock/mock-tool.js');
      const client = async () => createNodeClient(); // loads faster; throughput does not matter for one call
      const tool = await startMockTool({ fixtures: await demoFixtures(), client });
      options.onStop(() => tool.close({ drainMs: 0 }));
      return tool.url;
    }
    case 'mcp':
      return (await import('./mcp-toolset.js')).startMcpToolset(target.name, target.server, {
        ...options,
        ...output,
      });
    case 'command':
      return startServer(target, { ...options, ...output });
  }
}

/** The pause between two requests that find out whether a server answers, in ms. */
const POLL_MS = 100;

/** @throws ProtocolCliError `usage` if another server answers at the URL already, `command-failed` */
async function startServer(
  { command, cwd, url, readyWithinMs }: StartedTarget,
  { onStop, signal, onStarted, onServerExit, onStderr, onRemark }: ReachOptions,
): Promise<string> {
  if (url !== undefined && (await answersAt(url, signal)))
    throw usageError(
      `${url} answers before --command was started`,
      'Stop the server that runs there, or leave out --command to use it.',
    );
  const { startCommand } = await import('../system/child.js');
  const starting = startCommand({
    command,
    signal,
    ...(cwd !== undefined && { cwd }),
    ...(url !== undefined && { answering: waiting => untilAnswering(url, waiting) }),
    ...(readyWithinMs !== undefined && { readyWithinMs }),
    ...(onStderr && { onStderr }),
    ...(onRemark && { onRemark }),
  });
  let isStopping = false;
  onStop(() => {
    isStopping = true;
    return starting.then(
      child => child.stop(),
      () => {},
    );
  });
  const child = await starting;
  onStarted?.(child);
  void child.exited.then(exit => {
    if (!isStopping) onServerExit?.({ how: exitText(exit), lastLines: child.lastLines() });
  });
  return child.url;
}

/** A shell that runs the command reports a signal as 128 and its number. */
function exitText({ code, signal }: Exit): string {
  if (signal !== null) return `was ended by ${signal}`;
  const [name] = Object.entries(constants.signals).find(([, number]) => code === 128 + number) ?? [];
  return `exited with status ${code}${name === undefined ? '' : ` (${name})`}`;
}

/** Whether a server gives any answer at this URL. */
async function answersAt(url: string, signal: AbortSignal): Promise<boolean> {
  const client = createNodeClient();
  try {
    await client.send({ method: 'GET', url, read: 'nothing', timeoutMs: MAX_ANSWER_MS, signal });
    return true;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}

const MAX_ANSWER_MS = 2_000;

async function untilAnswering(url: string, signal: AbortSignal): Promise<string> {
  while (!signal.aborted && !(await answersAt(url, signal))) await pause(POLL_MS, signal);
  return url;
}

/** Ends early, and does not reject, if the signal is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return sleep(ms, undefined, { signal }).catch(() => {});
}

const MAX_LINE_LENGTH = 16 * 1024;

/** Passes text on in whole lines. `end` passes on an unfinished line. */
interface LineSink {
  readonly add: Sink;
  end(): void;
}

function byLine(write: Sink): LineSink {
  let rest = '';
  const passTo = async (end: number) => {
    const lines = rest.slice(0, end);
    rest = rest.slice(end);
    if (lines !== '') await write(lines);
  };
  return {
    add(text) {
      rest += text;
      return passTo(rest.length > MAX_LINE_LENGTH ? rest.length : rest.lastIndexOf('\n') + 1);
    },
    end: () => void passTo(rest.length),
  };
}

/** As {@link byLine}, for printing: each line is safe, and marked with the name of the server. */
export function serverOutput(write: Sink, name?: string): LineSink {
  return byLine(text => write(marked(text, name)));
}

function marked(text: string, name = 'server'): string {
  return visible(text.trimEnd())
    .split('\n')
    .map(line => `${name}: ${line}\n`)
    .join('');
}

/** How long a server may take to exit after its connection broke, in ms. */
const EXIT_MS = 300;

interface Watcher {
  calls(): Iterable<Exchange>;
  /** Receives whole lines of stderr, each marked as the server's. */
  readonly onStderr: Sink | null;
}

interface LastMessage {
  readonly text: string;
  readonly answered?: string | undefined;
}

/** Watches the servers started by a command, and records when one exits: its pending calls end. */
export class StartedServers {
  /** The last message, and the key of the call whose callback it answered. */
  #last: LastMessage = { text: '' };
  #isSuspect = false;
  /** The legs of the open requests to a tool. */
  readonly #toTool = new Set<string>();
  readonly #exits: Promise<unknown>[] = [];
  /** The callbacks for {@link startTarget}. */
  readonly options: Pick<ReachOptions, 'onStarted' | 'onServerExit' | 'onStderr'>;

  constructor(
    private readonly log: Log,
    private readonly watcher: Watcher,
  ) {
    const { onStderr } = watcher;
    log.subscribe(event => this.#follow(event));
    this.options = {
      onStarted: ({ exited }) => void this.#exits.push(exited),
      onServerExit: exit => this.#onServerExit(exit),
      ...(onStderr && { onStderr: lines => onStderr(marked(lines)) }),
    };
  }

  /** Waits briefly for a server whose connection broke: it may be exiting. */
  async settle(): Promise<void> {
    if (this.#isSuspect && this.#exits.length > 0) await finishedWithin(Promise.race(this.#exits), EXIT_MS);
  }

  #onServerExit(exit: ServerExit): void {
    const calls = [...this.watcher.calls()];
    const { text, answered } = this.#last;
    const call = calls.find(({ key }) => key === answered);
    const last = call ? ` after a callback of ${nameOf(call)}${text}` : text;
    const pending = calls.filter(({ settled }) => settled === null);
    this.log.emit(exitFact(exit, pending, last));
  }

  /** Remembers the last message to a tool, or the last answer. */
  #follow(event: Event): void {
    if (event.kind === 'request' && event.to === 'tool') {
      this.#toTool.add(event.leg);
      const path = URL.canParse(event.url) ? new URL(event.url).pathname : event.url;
      this.#last = { text: ` after ${event.method} ${path}` };
    } else if (event.kind === 'response' || event.kind === 'broken') {
      const isFromTool = this.#toTool.delete(event.leg);
      if (event.kind === 'broken') this.#isSuspect ||= event.code !== 'ABORTED';
      else if (!isFromTool)
        this.#last = { text: ` was answered with ${event.status}`, answered: event.calls?.[0] };
    }
  }
}

/** Limits: operations that are named, and the length of a name. */
const MAX_NAMED = { count: 3, length: 60 };

function nameOf({ invocation: { operation } }: Exchange): string {
  return `\`${truncate(operation, MAX_NAMED.length)}\``;
}

/** @param last the last message, which is named if no call is pending */
export function exitFact(
  { how, lastLines }: ServerExit,
  pending: readonly Exchange[],
  last = '',
): Extract<Fact, { kind: 'exited' }> {
  const arrived = pending.filter(({ attempts }) => attempts.some(each => each.broken?.phase !== 'connect'));
  const names = [...new Set(arrived.map(nameOf))];
  const during = ` during ${names.length === 1 ? '' : 'one of '}${joinFirst(names, MAX_NAMED.count)}`;
  return {
    kind: 'exited',
    how,
    message: `the server ${how}${names.length === 0 ? last : during}`,
    output: [...lastLines],
    ...(pending.length > 0 && { calls: pending.map(({ key }) => key) }),
  };
}
