import { ProtocolCliError } from '../../errors.js';
import type { ListenerOptions } from '../../runtime/callback-listener.js';
import type { CallIds } from '../../runtime/foreign-calls.js';

export type ListenOutput = 'plain' | 'json' | 'ndjson';

/** The options of `listen`, as commander hands them over. */
export interface ListenFlags {
  readonly host: string;
  readonly port: number;
  readonly callbackUrl?: string;
  readonly allowHost?: readonly string[];
  readonly maxBody: number;
  readonly expect?: readonly CallIds[];
  readonly groupId?: string;
  readonly id?: string;
  readonly count?: number;
  /** Milliseconds; 0 stays for ever. */
  readonly timeout: number;
  readonly supports: ReadonlySet<string>;
  readonly output: ListenOutput;
  readonly save?: string;
  readonly quiet?: boolean;
  readonly color: boolean;
}

/** What is to be done. */
export interface ListenPlan {
  readonly flags: ListenFlags;
  readonly listener: ListenerOptions;
  /** The only calls that count; none: all that come. */
  readonly expected: readonly CallIds[];
  /** Results, after which it stops; null: it stays. */
  readonly count: number | null;
}

/** @throws ProtocolCliError `usage`. */
export function planListen(flags: ListenFlags): ListenPlan {
  const { count = null } = flags;
  const expected = [...(flags.expect ?? []), ...onePair(flags)];
  if (count === 0)
    throw new ProtocolCliError('usage', '--count 0 would not listen at all', {
      hint: 'The least is --count 1; without it, it stays.',
    });
  if (count !== null && expected.length > 0 && count > expected.length)
    throw new ProtocolCliError('usage', `--count ${count}: no more than ${expected.length} can come`, {
      hint: 'Each expected call has one result.',
    });
  return { flags, listener: listenerOf(flags), expected, count };
}

/** `--group-id` and `--id`: what `--expect` says, for ids that have a slash in them. */
function onePair({ groupId, id }: ListenFlags): CallIds[] {
  if (groupId === undefined && id === undefined) return [];
  if (groupId && id) return [{ groupId, id }];
  throw new ProtocolCliError('usage', '--group-id and --id belong together, and neither is empty', {
    hint: 'A callback is matched by both. Without them, whatever comes is shown.',
  });
}

function listenerOf({
  host,
  port,
  callbackUrl,
  allowHost,
  maxBody,
  output,
  save,
}: ListenFlags): ListenerOptions {
  const keepBodies = output === 'ndjson' || save !== undefined;
  const publicUrl = callbackUrl === undefined ? {} : { publicUrl: callbackUrl };
  return { host, port, allowedHosts: allowHost ?? [], maxBody, keepBodies, ...publicUrl };
}
