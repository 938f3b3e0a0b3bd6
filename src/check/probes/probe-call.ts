import type { Caller } from '../../fixtures/check-files.js';
import type { RequirementId } from '../../protocol/requirements.js';
import type { Wire } from '../../runtime/wire.js';
import type { Clock } from '../../system/clock.js';

/** A valid call, and how the sent call differs from it. */
export interface ProbeCall {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Fields that replace or extend the fields of a valid invocation; undefined removes a field. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** On whose behalf it is sent. Its headers replace or extend those of the check. */
  readonly caller?: Caller | undefined;
  readonly addressed?: (url: string) => string;
  /** Returns the body to send instead of the invocation. */
  readonly body?: (invocation: Readonly<Record<string, unknown>>) => string;
  /** Whether to follow its subscription to the end; default: cancel it after the first event. */
  readonly isFollowed?: boolean;
  /** The responses to its callbacks, in order; the last one is repeated. */
  readonly answers?: readonly PlannedResponse[];
}

/** A status, a 200 with a body, a late 200, no response until the connection breaks, or a broken connection at once. */
export type PlannedResponse = number | { readonly body: string } | 'slow' | 'hang' | 'reset';

/** A plan that the log records before its calls. */
export interface ProbePlan {
  readonly id: string;
  /** Requirements that its calls can show. */
  readonly checks: readonly RequirementId[];
  readonly case?: number;
  /** Whether the calls were made before, and are repeated alone. */
  readonly again?: true;
  /** Whether the calls are repeated on a new server, after the first one exited. */
  readonly newServer?: true;
}

export interface CallOptions {
  readonly endpoint: string;
  /** Its log receives all events. */
  readonly wire: Wire;
  readonly clock: Clock;
  /** The time limit of each observation, in ms. */
  readonly probeTimeoutMs: number;
  /** Whether a requirement is selected. A probe that tests no selected requirement is not run. */
  readonly wants: (id: RequirementId) => boolean;
  readonly onConsent: (url: string) => void;
}

/** The check that makes a call: its limits, and what it records. */
export interface CallingCheck {
  readonly options: CallOptions;
  /** Ends every wait. */
  readonly signal: AbortSignal;
  /** Whether nothing more can be found out. */
  readonly isAborted: boolean;
  /** How long an observation is waited for, in ms. */
  readonly windowMs: number;
  /** The time limit of requests, in ms. */
  readonly requestLimits: { readonly timeoutMs: number; readonly signal: AbortSignal };
  /** What the events show of the tool. */
  readonly tool: { readonly exitedAt: number | null };
  /** Counts a callback. */
  isWithinQuota(size: number): boolean;
  within(ms: number, promise: Promise<unknown>): Promise<boolean>;
  sleep(ms: number): Promise<void>;
  warn(message: string, calls?: string[]): void;
  recordCancel(key: string): void;
  recordExpiry(key: string, afterMs: number): void;
}
