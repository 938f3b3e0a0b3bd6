import type { JudgedOutcome } from '../../outcome/outcome.js';
import type { Content } from '../content.js';
import type { Event } from '../events.js';

/** One POST of results, as far as it concerns a call. Times in ms since the start. */
export interface ResultsPost {
  readonly leg: string;
  readonly at: number;
  readonly endedAt?: number;
  readonly status?: number;
  /** The code of what broke: nobody knows whether it arrived. */
  readonly broken?: string;
}

/** What the agent is given for a call. */
export interface CallAnswer {
  readonly at: number;
  readonly by: Extract<Event, { kind: 'answered' }>['by'];
  /** A `tool_result` or an `error_event`; null where its bytes are not known. */
  readonly body: Content | null;
  /** How it is not as the platform's script expects it; nothing where it is, or nothing was expected. */
  readonly unexpected: readonly string[];
}

/** A call that an agent session waits for, or did. */
export interface SessionCall {
  readonly key: string;
  readonly tool: string;
  /** JSON, as the platform wrote it. */
  readonly args: unknown;
  readonly id: string | null;
  /** From 0. */
  readonly round: number;
  readonly askedAt: number;
  readonly answer: CallAnswer | null;
  /** Why no tool was asked to the end, where that is our doing: the wire has no word for it. */
  readonly ours: JudgedOutcome | null;
  /** The latest. */
  readonly post: ResultsPost | null;
  readonly posts: number;
  /** A post of it broke, and may have arrived all the same. */
  readonly wasLost: boolean;
  /** The session ended while it waited for it. */
  readonly isAbandoned: boolean;
  /** What is odd about it; the latest. */
  readonly warnings: readonly string[];
  /** When the platform took its answer; null where that is not known. */
  readonly takenAt: number | null;
  /** Bytes of its arguments and its answer. */
  readonly size: number;
}

/** What a status was, and since when. */
export interface StatusChange {
  readonly status: string;
  readonly at: number;
}

/** One agent session and what followed: the value that `stepSession` folds events into. */
export interface Session {
  readonly id: string;
  readonly beganAt: number;
  /** Oldest first; where there are very many, the latest. */
  readonly statuses: readonly StatusChange[];
  readonly error: string | null;
  /** What the agent says in the end; null until it does. */
  readonly answer: { readonly value: unknown } | null;
  /** How often it began to wait for calls. */
  readonly rounds: number;
  /** By key, in the order in which they were asked. Where there are very many, some of the oldest are forgotten. */
  readonly calls: ReadonlyMap<string, SessionCall>;
  /** Keys of the calls that it waits for. */
  readonly pending: ReadonlySet<string>;
  /** How many calls are not kept any more. */
  readonly forgotten: number;
  /** Bytes of all that is kept of its calls. */
  readonly size: number;
}

/**
 * `pending`: nobody has answered it yet; `answered`: the answer is ready; `posting`: it is on its way; `taken`: the platform has it;
 * `refused`: the platform did not take it; `unwanted`: the session ended without it; `gone`: it was settled, and not by this answer.
 */
export type SessionCallState = 'pending' | 'answered' | 'posting' | 'taken' | 'refused' | 'unwanted' | 'gone';

export function sessionCallState(session: Session, call: SessionCall): SessionCallState {
  const { post, answer, takenAt, wasLost, isAbandoned, key } = call;
  if (takenAt !== null) return 'taken';
  if (post?.status === 409) return 'unwanted';
  if (post && post.endedAt === undefined) return 'posting';
  if (!session.pending.has(key)) return wasLost ? 'taken' : isAbandoned ? 'unwanted' : 'gone';
  if (post?.status !== undefined && post.status !== 429) return 'refused';
  return answer ? 'answered' : 'pending';
}

/** Null where no status was ever told. */
export function statusOf({ statuses }: Session): string | null {
  return statuses.at(-1)?.status ?? null;
}
