import type { NearestFixture } from '../events/events.js';
import type { Findings } from '../util/collections.js';

/** The verdict on a whole run of a mock: whether everything happened that the test expected. */
export interface VerificationReport {
  /** True if every fixture is `used` or `not-needed`, every call was matched, every callback was delivered and no question was answered only wrongly; a canceled call and a closed thread need none. */
  readonly ok: boolean;
  /** The number of invocations; retries of an invocation are not counted. */
  readonly calls: number;
  readonly fixtures: readonly FixtureVerdict[];
  readonly unmatched: Findings<UnmatchedCall>;
  readonly undelivered: Findings<UndeliveredCallback>;
  /** How long the requests took until their responses, in total, in milliseconds. */
  readonly ms: { readonly invocations: number; readonly callbacks: number };
  /** Why it is not `ok`, each as a line of text. */
  readonly problems: readonly string[];
}

/** How many calls a fixture expects; default: at least one. */
export interface Expectation {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

/** Whether a fixture was used as expected. */
export interface FixtureVerdict {
  readonly id: string;
  /** `file:line`, or `file#n`. */
  readonly place: string;
  /** The operation and arguments that it matches, for fixtures without a line number. */
  readonly answers?: string;
  /** The operation that it matches, if that is one name. */
  readonly operation?: string;
  /** A sequence counts as used after its first step. */
  readonly calls: number;
  /** The total time of its calls, from the invocation to the accepted result, in milliseconds. */
  readonly ms: number;
  /** `not-needed`: no call came, and none was required. */
  readonly status: 'used' | 'not-needed' | 'unused' | 'too-few' | 'too-many';
  /** Its calls were refused, as its faults say, and none came again. */
  readonly refused?: true;
  readonly expected?: Expectation;
}

/** A call that no fixture answered, so it ended in an error result. Fields are null if the invocation does not have them. */
export interface UnmatchedCall {
  readonly operation: string | null;
  readonly id: string | null;
  readonly group_id: string | null;
  /** The reason if it is more than a missing fixture: an unknown operation, wrong arguments … */
  readonly reason?: string;
  /** The fixture with the fewest differences, and the first path at which the call differs. */
  readonly nearest?: NearestFixture;
}

/** A callback that did not arrive, or a question that the runtime did not answer. */
export interface UndeliveredCallback {
  readonly operation: string | null;
  readonly id: string | null;
  /** The callback URL without its query. */
  readonly url: string | null;
  readonly type?: string;
  readonly why: string;
}

/** The verdict on the client of a session: whether everything happened that the test expected. */
export interface SessionVerificationReport {
  readonly ok: boolean;
  readonly sessions: number;
  /** Calls that were pending at some time, and how many of them were answered. */
  readonly calls: number;
  readonly answered: number;
  readonly problems: Findings<SessionProblem>;
}

/**
 * `unanswered`: a pending call got no answer. `unexpected`: the answer differs from the script. `unreached`: rounds that never began.
 * `refused`: a post of results, or the creation of a session, was not accepted.
 */
export type SessionProblem =
  | ({ readonly kind: 'unanswered' } & AgentCall)
  | ({ readonly kind: 'unexpected'; readonly path: string; readonly reason: string } & AgentCall)
  | { readonly kind: 'unreached'; readonly session: string; readonly rounds: number; readonly of: number }
  | {
      readonly kind: 'refused';
      /** Default: a post of results. */
      readonly what?: 'session';
      /** Null if the request names no existing session. */
      readonly session: string | null;
      readonly status: number;
      readonly reason: string;
    };

/** A call of an agent session. */
export interface AgentCall {
  readonly session: string;
  readonly call: string;
  readonly tool_name: string;
}
