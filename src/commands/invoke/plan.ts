import { randomUUID } from 'node:crypto';
import type { DialectName } from '../../dialects/dialect.js';
import type { UnaddressedInvocation } from '../../protocol/invocation.js';
import type { McpVersion } from '../../protocol/mcp-versions.js';
import type { ListenerOptions } from '../../runtime/callback-server.js';
import type { McpPeer } from '../../runtime/mcp/link.js';
import type { ProtocolCliError } from '../../util/errors.js';
import { visibleLine } from '../../util/visible.js';
import type { HeaderOptions } from '../headers.js';
import { usageError } from '../options.js';
import {
  type ListenerFlags,
  listenerOf,
  readMcpTarget,
  readTarget,
  type Target,
  type TargetOptions,
} from '../target.js';
import type { Output } from '../terminal.js';
import type { ArgumentWords } from './arguments.js';

export interface InvokeOptions extends TargetOptions, HeaderOptions, ListenerFlags {
  readonly args?: string;
  readonly validate: boolean;
  readonly id?: string;
  readonly callId?: string;
  readonly groupId?: string;
  readonly userId?: string;
  readonly ancestor?: readonly string[];
  /** If false, `/close_thread` is not sent. */
  readonly close?: boolean;
  /** The URL of an MCP server, or a command that starts one. */
  readonly mcp?: string;
  readonly mcpVersion?: McpVersion;
  readonly watch?: boolean;
  /** Long names of the options set on the command line. */
  readonly given: readonly string[];
  readonly timeout: number;
  readonly retries: number;
  readonly linger?: number;
  readonly follow?: boolean;
  readonly lenientAck?: boolean;
  readonly repeat?: number;
  readonly concurrency?: number;
  readonly choose?: readonly string[];
  readonly yes?: boolean;
  /** Path of a file. */
  readonly policy?: string;
  readonly supports: ReadonlySet<string>;
  readonly output?: Output;
  readonly dialect?: DialectName;
  readonly dryRun?: boolean;
  readonly interactive?: boolean;
  /** A transcript that the workbench opens. */
  readonly open?: string;
  readonly save?: string;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly color: boolean;
}

/** The plan of a call, before the toolset is known. */
export interface InvokePlan {
  readonly options: InvokeOptions;
  readonly target: Target | null;
  readonly peer: McpPeer | null;
  readonly operation: string | undefined;
  readonly words: ArgumentWords;
  readonly identity: CallIdentity;
  readonly listener: ListenerOptions;
}

/** The ids of a call. */
export interface CallIdentity {
  readonly id: string;
  readonly callId: string | null;
  readonly groupId: string;
  /** A thread with a generated id is closed at the end. */
  readonly isOurThread: boolean;
  readonly userId?: string;
  readonly ancestors: readonly string[];
}

/** Ms before the program prints what it is waiting for. */
export const NOTICE_AFTER_MS = 3_000;

/** The call that `invoke --demo` makes if no operation is given. */
const DEMO_CALL = ['edit_file', 'path=src/main.rs'];

/** @throws ProtocolCliError `usage`. */
export function planInvoke(given: readonly string[], options: InvokeOptions): InvokePlan {
  const { args: whole, demo, mcp, mcpVersion, interactive } = options;
  if (mcp === undefined && mcpVersion !== undefined) throw usageError('--mcp-version needs --mcp');
  const peer = mcp === undefined ? null : readMcpTarget(mcp, options);
  const { target, rest } = peer ? { target: null, rest: given } : readTarget(given, options);
  const demoCall = whole === undefined ? DEMO_CALL : DEMO_CALL.slice(0, 1);
  const [operation, ...words] = rest.length === 0 && demo && !interactive ? demoCall : rest;
  if (operation?.includes('=')) throw noOperation(operation);
  refuseContradictions(options);
  if (peer && operation === undefined)
    throw usageError(
      'no tool of the MCP server given',
      `The tool comes first: protocol-cli invoke --mcp '${visibleLine(peer.name)}' <tool> key=value`,
    );
  if (operation === '' || (operation === undefined && target?.kind === 'endpoint')) throw noOperation();
  return {
    options,
    target,
    peer,
    operation,
    words: { words, whole },
    identity: identityOf(options),
    listener: listenerOf(options),
  };
}

function refuseContradictions({ repeat, concurrency, id, follow, linger, dialect, output }: InvokeOptions) {
  if (repeat === undefined && concurrency !== undefined) throw usageError('--concurrency needs --repeat <n>');
  if (dialect !== undefined && output !== undefined && output !== 'json')
    throw usageError(
      `--dialect and -o ${output} exclude each other`,
      '--dialect prints one JSON object already.',
    );
  if (repeat === undefined) return;
  const others = { '--dialect': dialect, '--id': id, '--follow': follow, '--linger': linger };
  const other = Object.entries(others).find(([, value]) => value);
  if (other) throw usageError(`${other[0]} and --repeat exclude each other`);
}

function noOperation(word?: string): ProtocolCliError {
  return usageError(
    `no operation given${word === undefined ? '' : `: "${word}" is an argument`}`,
    'The operation comes after the URL: protocol-cli invoke <url> <operation> key=value. `protocol-cli toolset <url>` lists them.',
  );
}

/** Returns the given ids, and new ones for the rest (RT-ID). @throws ProtocolCliError `usage` */
export function identityOf({ id, callId, groupId, userId, ancestor }: InvokeOptions): CallIdentity {
  if (id === '' || groupId === '') throw usageError('--id and --group-id cannot be empty');
  return {
    id: id ?? `call_${randomUUID()}`,
    callId: callId ?? null,
    groupId: groupId ?? `thread_${randomUUID()}`,
    isOurThread: groupId === undefined,
    ...(userId !== undefined && { userId }),
    ancestors: ancestor ?? [],
  };
}

export function invocationOf(
  { id, callId, groupId, userId, ancestors }: CallIdentity,
  operation: string,
  args: Record<string, unknown>,
): UnaddressedInvocation {
  return {
    operation,
    arguments: args,
    id,
    call_id: callId,
    group_id: groupId,
    ...(ancestors.length > 0 && { thread_ancestors: [...ancestors] }),
    ...(userId !== undefined && { user_id: userId }),
  };
}
