import { randomUUID } from 'node:crypto';
import type { DialectName } from '../../dialects/dialect.js';
import { ProtocolCliError } from '../../errors.js';
import type { ListenerOptions } from '../../runtime/callback-listener.js';
import type { HeaderOptions } from '../headers.js';
import { readTarget, type Target, type TargetOptions } from '../target.js';
import type { Output } from '../terminal.js';
import type { ArgumentWords } from './arguments.js';

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
  /** The options that somebody gave, and are not defaults: `--retries`. */
  readonly told?: readonly string[];
  readonly timeout: number;
  /** Whether somebody said so, and it is not the default. */
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
    throw new ProtocolCliError('usage', '--concurrency needs --repeat <n>: how many calls there are');
  if (dialect !== undefined) refuseOtherOutput(output, repeat);
  if (repeat === undefined) return;
  const alone = id === undefined ? (follow ? '--follow' : linger ? '--linger' : null) : '--id';
  if (alone) throw new ProtocolCliError('usage', `${alone} and --repeat exclude each other`);
}

/** A dialect is one object of JSON, about one call. */
function refuseOtherOutput(output: Output = 'json', repeat: number | undefined): void {
  if (output !== 'json')
    throw new ProtocolCliError('usage', `--dialect and -o ${output} exclude each other`, {
      hint: '--dialect prints one JSON object; with it, -o json may be left out.',
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
