import { randomUUID } from 'node:crypto';
import type { DialectName } from '../../dialects/dialect.js';
import type { Log } from '../../events/log.js';
import type { HttpClient } from '../../http/client.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Tool } from '../../protocol/toolset.js';
import type { ListenerOptions } from '../../runtime/callback-server.js';
import { toolOf } from '../../runtime/check-call.js';
import { DISCOVERY_HINTS, type Discovered, type DiscoveryHints, discover } from '../../runtime/discover.js';
import type { Wire } from '../../runtime/notices.js';
import { ProtocolCliError } from '../../util/errors.js';
import { excerpt } from '../../util/excerpt.js';
import { type JsonReading, parseJson, readJson } from '../../util/json.js';
import { cut, isRecord } from '../../util/json-diagnosis.js';
import { firstFew } from '../../util/json-layout.js';
import { visibleLine } from '../../util/visible.js';
import { confirmCommands, reach, readRapConfig, requireServers } from '../rap-config.js';
import { readSource } from '../read-source.js';
import { type StartedServers, typed } from '../started-server.js';
import {
  type ConfiguredTarget,
  type HeaderOptions,
  readCredentials,
  readTarget,
  type ServerTarget,
  type Target,
  type TargetOptions,
} from '../target.js';
import { ask, isSomebodyThere, type OnStop, type Output, type Terminal } from '../terminal.js';

/** Where arguments come from: words like `key=value`, or everything at once. */
interface ArgumentWords {
  readonly words: readonly string[];
  /** `--args`: JSON, `@file`, or `-`. */
  readonly whole?: string;
}

type Arguments = Record<string, unknown>;
type Schema = Readonly<Record<string, unknown>>;

/** The arguments; words get their types when the schema is known, which is null without one. */
export type Gathered = (schema: Schema | null) => Arguments;

/**
 * The `arguments` of an invocation. `key=value` is typed by the schema, `key:=json` is verbatim, `key=@file` is a file's text.
 * @throws ProtocolCliError `usage` or `unreadable-file`, naming the word.
 */
export async function readArguments(
  given: ArgumentWords,
  schema: Schema | null,
  stdin: AsyncIterable<Uint8Array>,
): Promise<Arguments> {
  return (await gatherArguments(given, stdin))(schema);
}

/** The same before the schema is known. @throws ProtocolCliError likewise. */
export async function gatherArguments(
  { words, whole }: ArgumentWords,
  stdin: AsyncIterable<Uint8Array>,
): Promise<Gathered> {
  if (whole === undefined) return fromWords(words, stdin);
  if (words.length === 0) return always(await fromWhole(whole, stdin));
  throw new ProtocolCliError('usage', '--args and key=value exclude each other', {
    hint: 'Use one of the two.',
  });
}

async function fromWords(words: readonly string[], stdin: AsyncIterable<Uint8Array>): Promise<Gathered> {
  const entries = new Map<string, (schema: Schema | null) => unknown>();
  for (const word of words) {
    const { key, verbatim, text } = split(word);
    if (entries.has(key)) throw new ProtocolCliError('usage', `duplicate argument "${key}"`);
    entries.set(key, verbatim ? always(json(word, text)) : await textOrFile(key, text, stdin));
  }
  return schema => Object.fromEntries([...entries].map(([key, value]) => [key, value(schema)]));
}

const always =
  <T>(value: T) =>
  () =>
    value;

function split(word: string): { key: string; verbatim: boolean; text: string } {
  const equals = word.indexOf('=');
  const verbatim = word[equals - 1] === ':';
  const key = word.slice(0, verbatim ? equals - 1 : equals);
  if (equals >= 0 && key !== '') return { key, verbatim, text: word.slice(equals + 1) };
  throw new ProtocolCliError('usage', `unexpected argument "${word}"; use key=value`, {
    hint: 'Write key=value, key:=json or key=@file; or give all arguments at once with --args.',
  });
}

async function textOrFile(
  key: string,
  text: string,
  stdin: AsyncIterable<Uint8Array>,
): Promise<(schema: Schema | null) => unknown> {
  if (!text.startsWith('@')) return schema => typed(key, text, schema);
  return always(Buffer.from(await readSource(text.slice(1), stdin)).toString('utf8'));
}

function json(word: string, text: string): unknown {
  const reading = parseJson(text);
  refuseLossy(word, reading);
  if (reading.ok) return reading.value;
  throw new ProtocolCliError('usage', `${word}: ${reading.reason}`, {
    hint: 'After := comes JSON; a string needs quotes: name:=\'"Ada"\'. For plain text write name=Ada.',
  });
}

async function fromWhole(source: string, stdin: AsyncIterable<Uint8Array>): Promise<Arguments> {
  const file = source === '-' ? '-' : source.startsWith('@') ? source.slice(1) : null;
  const reading = file === null ? parseJson(source) : readJson(await readSource(file, stdin));
  const where = file === null ? '--args' : `--args ${file === '-' ? '(standard input)' : file}`;
  if (!reading.ok)
    throw new ProtocolCliError('usage', `${where}: ${reading.reason}`, {
      hint: 'Give a JSON object, @file, or - for standard input.',
    });
  refuseLossy(where, reading);
  if (isRecord(reading.value)) return reading.value;
  throw new ProtocolCliError('usage', `${where}: the arguments must be a JSON object`);
}

/** What cannot be sent as it was written is not sent at all: 1e400 would go out as null. */
function refuseLossy(where: string, reading: JsonReading): void {
  const [note] = reading.ok ? reading.notes : [];
  if (note !== undefined) throw new ProtocolCliError('usage', `${where}: ${note}`);
}

/** The options of `invoke`, as commander hands them over. */
export interface InvokeOptions extends TargetOptions, HeaderOptions {
  readonly args?: string;
  readonly validate: boolean;
  readonly id?: string;
  readonly callId?: string;
  readonly groupId?: string;
  readonly userId?: string;
  readonly ancestor?: readonly string[];
  /** False: `/close_thread` is not sent. */
  readonly close?: boolean;
  /** The URL of an MCP server, or a command that starts one: no RAP then. */
  readonly mcp?: string;
  /** Restart the server of `--command` when its files change, and call again. */
  readonly watch?: boolean;
  /** Options that were set on the command line, defaults excluded: `--retries`. */
  readonly told?: readonly string[];
  readonly timeout: number;
  /** Whether it was set on the command line. */
  readonly isTimeoutTold?: boolean;
  readonly retries: number;
  readonly linger?: number;
  readonly follow?: boolean;
  readonly lenientAck?: boolean;
  readonly repeat?: number;
  readonly concurrency?: number;
  readonly callbackHost: string;
  readonly callbackPort: number;
  readonly callbackUrl?: string;
  readonly allowHost?: readonly string[];
  readonly maxBody: number;
  readonly choose?: readonly string[];
  readonly yes?: boolean;
  /** A file. */
  readonly policy?: string;
  readonly supports: ReadonlySet<string>;
  readonly output?: Output;
  /** The outcome as this system has it, in place of our report. */
  readonly dialect?: DialectName;
  readonly dryRun?: boolean;
  /** The workbench, in place of one call. */
  readonly interactive?: boolean;
  /** A transcript that the workbench shows at once. */
  readonly open?: string;
  readonly save?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly color: boolean;
}

/** Who is calling: the ids of the invocation. */
export interface Identity {
  readonly id: string;
  readonly callId: string | null;
  readonly groupId: string;
  /** A thread of our own making is closed when we are done with it. */
  readonly isOurThread: boolean;
  readonly userId?: string;
  readonly ancestors: readonly string[];
}

/** What is to be done, before anything is known of the tool. */
export interface InvokePlan {
  readonly options: InvokeOptions;
  readonly target: Target | null;
  readonly operation: string | undefined;
  readonly words: ArgumentWords;
  readonly identity: Identity;
  readonly listener: ListenerOptions;
}

/** @throws ProtocolCliError `usage`. */
export function planInvoke(words: readonly string[], options: InvokeOptions): InvokePlan {
  const { target, rest } =
    options.mcp === undefined ? readTarget(words, options) : { target: null, rest: words };
  const [operation, ...argumentWords] = rest.length === 0 && options.demo ? demoCall(options) : rest;
  if (operation?.includes('=')) throw noOperation(operation);
  refuseContradictions(options);
  if (operation === '' || (operation === undefined && target?.kind === 'endpoint')) throw noOperation();
  return {
    options,
    target,
    operation,
    words: { words: argumentWords, ...(options.args !== undefined && { whole: options.args }) },
    identity: identityOf(options),
    listener: listenerOf(options),
  };
}

function refuseContradictions({
  repeat,
  concurrency,
  id,
  follow,
  linger,
  dialect,
  output,
}: InvokeOptions): void {
  if (repeat === undefined && concurrency !== undefined)
    throw new ProtocolCliError('usage', '--concurrency needs --repeat <n>');
  if (dialect !== undefined) refuseOtherOutput(output, repeat);
  if (repeat === undefined) return;
  const alone = id === undefined ? (follow ? '--follow' : linger ? '--linger' : null) : '--id';
  if (alone) throw new ProtocolCliError('usage', `${alone} and --repeat exclude each other`);
}

/** A dialect is one object of JSON, about one call. */
function refuseOtherOutput(output: Output = 'json', repeat: number | undefined): void {
  if (output !== 'json')
    throw new ProtocolCliError('usage', `--dialect and -o ${output} exclude each other`, {
      hint: '--dialect prints one JSON object already.',
    });
  if (repeat !== undefined) throw new ProtocolCliError('usage', '--dialect and --repeat exclude each other');
}

/** `invoke --demo` alone must show something. */
function demoCall({ args }: InvokeOptions): readonly string[] {
  return args === undefined ? ['edit_file', 'path=src/main.rs'] : ['edit_file'];
}

export function noOperation(word?: string): ProtocolCliError {
  const found = word === undefined ? '' : `: "${word}" is an argument`;
  return new ProtocolCliError('usage', `no operation given${found}`, {
    hint: 'The operation comes after the URL: protocol-cli invoke <url> <operation> key=value. `protocol-cli toolset <url>` lists them.',
  });
}

function identityOf({ id, callId, groupId, userId, ancestor }: InvokeOptions): Identity {
  if (id === '' || groupId === '') throw new ProtocolCliError('usage', '--id and --group-id cannot be empty');
  return {
    id: id ?? `call_${randomUUID()}`,
    callId: callId ?? null,
    groupId: groupId ?? `thread_${randomUUID()}`,
    isOurThread: groupId === undefined,
    ...(userId !== undefined && { userId }),
    ancestors: ancestor ?? [],
  };
}

export function listenerOf({
  callbackHost: host,
  callbackPort: port,
  callbackUrl,
  allowHost,
  maxBody,
}: InvokeOptions): ListenerOptions {
  const publicUrl = callbackUrl === undefined ? {} : { publicUrl: callbackUrl };
  return { host, port, allowedHosts: allowHost ?? [], maxBody, ...publicUrl };
}

export interface Stage {
  readonly log: Log;
  readonly client: HttpClient;
  readonly terminal: Terminal;
  /** Aborted when a person wants to stop. */
  readonly signal: AbortSignal;
  /** Uses the terminal while nothing else draws there. */
  readonly aside: <T>(work: () => Promise<T>) => Promise<T>;
  /** Takes what has to be stopped at the end. */
  readonly onStop: OnStop;
  /** Watches the servers that are started. */
  readonly servers?: StartedServers;
}

/** The one tool that will be called, and where it was found. */
interface Located extends Loaded {
  readonly tool: Tool;
  readonly notes: readonly Warning[];
}

interface Loaded {
  readonly discovered: Discovered;
  readonly wire: Wire;
}

/**
 * The tool that offers the operation: the target's, else one of the configured servers'.
 * @throws ProtocolCliError if there is no such operation, or its server cannot be used.
 */
export async function locate(plan: InvokePlan, target: ServerTarget | null, stage: Stage): Promise<Located> {
  if (target) {
    const loaded = await load(plan, target, stage);
    const { toolset } = loaded.discovered;
    return { ...loaded, tool: toolOf(toolset, await operationAmong(toolset.tools, plan, stage)), notes: [] };
  }
  const config = await readRapConfig(stage.terminal);
  requireServers(config);
  const { targets, warnings } = config;
  if (!plan.options.yes) await stage.aside(() => confirmCommands(targets, stage.terminal, stage.signal));
  const servers = await Promise.allSettled(targets.map(each => load(plan, each, stage)));
  const tools = servers.flatMap(each =>
    each.status === 'fulfilled' ? each.value.discovered.toolset.tools : [],
  );
  const operation = tools.length === 0 ? '' : await operationAmong(tools, plan, stage);
  const found = pick(servers, operation, warnings);
  return { ...found, notes: [...warnings, ...found.notes] };
}

const HINTS: DiscoveryHints = {
  ...DISCOVERY_HINTS,
  missing: 'Give the base URL of the tool server. If this is the invocation endpoint itself, add --endpoint.',
};

async function load(
  plan: InvokePlan,
  target: ConfiguredTarget,
  { client, log, terminal, onStop, signal, servers }: Stage,
): Promise<Loaded> {
  const url = await reach(target, { onStop, signal, ...servers?.options });
  const wire = { client, log, credentials: readCredentials(plan.options, url, terminal.env) };
  return { wire, discovered: await discover(wire, url, HINTS) };
}

/** A name that two toolsets define is available from neither (RT-TOOLSET); a server that is down is no reason to give up. */
function pick(
  servers: readonly PromiseSettledResult<Loaded>[],
  operation: string,
  warnings: readonly Warning[],
): Located {
  const loaded = servers.flatMap(server => (server.status === 'fulfilled' ? [server.value] : []));
  const failures = servers.flatMap(server =>
    server.status === 'rejected' ? [server.reason as unknown] : [],
  );
  if (loaded.length === 0) throw failures[0];
  const offers = loaded.flatMap(each =>
    each.discovered.toolset.tools.filter(({ name }) => name === operation).map(tool => ({ ...each, tool })),
  );
  const [offer] = offers;
  if (offer && offers.length === 1) return { ...offer, notes: failures.map(unusable) };
  const names = loaded.flatMap(each => each.discovered.toolset.tools.map(({ name }) => name)).join(', ');
  const message = offer
    ? `"${operation}" is defined by ${offers.length} toolsets, so neither is used (RT-TOOLSET)`
    : `no configured toolset has an operation "${operation}"`;
  const faults = [...warnings, ...failures.map(unusable)].map(({ message }) => message);
  throw new ProtocolCliError('unknown-operation', message, {
    faults,
    hint: offer ? 'Name the tool by its URL.' : `There are: ${names}.`,
  });
}

function unusable(failure: unknown): Warning {
  const reason = failure instanceof Error ? failure.message : String(failure);
  return { message: `a configured tool server could not be used: ${reason}` };
}

/** Asks the person at the terminal for an operation when none is given. @throws ProtocolCliError `usage`, with all that there are. */
async function operationAmong(tools: readonly Tool[], plan: InvokePlan, stage: Stage): Promise<string> {
  if (plan.operation !== undefined) return plan.operation;
  const names = [...new Set(tools.map(({ name }) => name))];
  const picked = isSomebodyThere(stage.terminal)
    ? await stage.aside(() => pickOperation(tools, stage))
    : null;
  if (picked !== null) return picked;
  throw new ProtocolCliError(
    stage.signal.aborted ? 'interrupted' : 'usage',
    `no operation given. Available: ${firstFew(names, MOST_NAMES)}`,
    { hint: 'Put one of them after the URL: protocol-cli invoke <url> <operation> key=value' },
  );
}

/** Null where nothing was chosen. */
async function pickOperation(tools: readonly Tool[], { terminal, signal }: Stage): Promise<string | null> {
  const lines = tools.map(
    ({ name, description }, index) => `${index + 1}  ${name}  ${cut(description, MOST_DESCRIPTION)}`,
  );
  terminal.stderr.write(`${lines.map(visibleLine).join('\n')}\n`);
  for (;;) {
    const answer = (await ask('Operation (number or name): ', terminal, signal))?.trim();
    if (answer === undefined || answer === '') return null;
    const picked = tools.find(({ name }, index) => name === answer || String(index + 1) === answer);
    if (picked) return picked.name;
    terminal.stderr.write(`no operation ${excerpt(answer)}\n`);
  }
}

const MOST_NAMES = 60;
const MOST_DESCRIPTION = 60;

/** @throws ProtocolCliError `usage` where none is named. */
export function operationOf({ operation }: InvokePlan): string {
  if (operation !== undefined) return operation;
  throw new ProtocolCliError('usage', 'no operation given', {
    hint: 'protocol-cli toolset lists the operations of the configured tools.',
  });
}
