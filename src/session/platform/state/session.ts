import type { Fact } from '../../../exchange/events.js';
import type { SessionScript, SessionTool } from '../../../fixtures/session/script.js';
import type { SessionEvent } from '../../../protocol/session/changes.js';
import type { SessionStatus } from '../../../protocol/session/status.js';
import type { SettledCall } from '../../../protocol/session/tool-results.js';

/** A call that the agent waits for, or waited for. */
export interface PendingCall {
  /** Its id, or `#1`, `#2` … where that is null. */
  readonly key: string;
  readonly tool_name: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly id: string | null;
}

/** A call with the answer that was taken for it. */
export interface Settled {
  readonly call: PendingCall;
  readonly answer: SettledCall;
}

/** A session as the platform keeps it. Never changed: each step makes another one. */
export interface Session {
  readonly id: string;
  readonly script: SessionScript;
  readonly tools: readonly SessionTool[];
  /** What it was created with. */
  readonly request: unknown;
  /** RFC 3339, as all times here. */
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Where it is, paused or not. */
  readonly phase: SessionStatus;
  readonly isPaused: boolean;
  /** The round that is being played, from 0; -1 before the first. */
  readonly round: number;
  readonly pending: readonly PendingCall[];
  readonly settled: readonly Settled[];
  /** Calls that nobody will answer any more: the session ended before. */
  readonly abandoned: readonly PendingCall[];
  /** The place of each is its index. */
  readonly events: readonly SessionEvent[];
  /** Of all of them. */
  readonly eventBytes: number;
  /** Of what it was created with, and of the results that were taken for its calls. */
  readonly postedBytes: number;
  readonly answer: unknown;
  readonly error: string | null;
}

/** What a step made of a session, and what there is to tell of it. */
export interface Stepped {
  readonly session: Session;
  readonly facts: readonly Fact[];
}

export interface Creation {
  readonly id: string;
  readonly script: SessionScript;
  readonly tools: readonly SessionTool[];
  readonly request: unknown;
  /** Bytes of `request`; 0 unless told. */
  readonly size?: number;
  readonly at: string;
}

/** A session that is there, and has not begun. */
export function createSession({ id, script, tools, request, size = 0, at }: Creation): Session {
  return {
    id,
    script,
    tools,
    request,
    createdAt: at,
    startedAt: null,
    finishedAt: null,
    phase: 'pending',
    isPaused: false,
    round: -1,
    pending: [],
    settled: [],
    abandoned: [],
    events: [],
    eventBytes: 0,
    postedBytes: size,
    answer: null,
    error: null,
  };
}

/** What clients are told. */
export function statusOf({ phase, isPaused }: Pick<Session, 'phase' | 'isPaused'>): SessionStatus {
  return isPaused ? 'paused' : phase;
}
