/** Whether everything happened that a test of a runtime was meant to make happen: a verdict on the whole run of a mock. */
export interface VerificationReport {
  /** No fixture other than used or not needed, nothing unmatched, nothing undelivered. */
  readonly ok: boolean;
  /** Invocations that came; what a runtime sends again because it heard no acknowledgement counts once. */
  readonly calls: number;
  readonly fixtures: readonly FixtureVerdict[];
  readonly unmatched: Findings<UnmatchedCall>;
  readonly undelivered: Findings<UndeliveredCallback>;
}

/** What is expected of a fixture; left out, it is at least one call. */
export interface Expectation {
  readonly min?: number | undefined;
  readonly max?: number | undefined;
}

export interface FixtureVerdict {
  readonly id: string;
  /** `file:line`, or `file#n`. */
  readonly place: string;
  /** The operation and arguments that it answers; for fixtures without a line number. */
  readonly answers?: string;
  /** A sequence is used once its first step is. */
  readonly calls: number;
  readonly status: FixtureStatus;
  /** As the fixture's `expect` has it. */
  readonly expected?: Expectation;
}

/** `not-needed`: no call came, and none had to. */
type FixtureStatus = 'used' | 'not-needed' | 'unused' | 'too-few' | 'too-many';

/** How many there are, and the first hundred of them. */
export interface Findings<T> {
  readonly count: number;
  readonly examples: readonly T[];
}

/** A call that no fixture answered: it ended in an error result, which no test asks for by accident. Null: it did not say. */
export interface UnmatchedCall {
  readonly operation: string | null;
  readonly id: string | null;
  readonly group_id: string | null;
  /** Why, where it is not for want of a fixture alone: an unknown operation, wrong arguments … */
  readonly reason?: string;
  readonly nearest?: NearestFixture;
}

/** The fixture that came closest, and the first place at which it differs. */
interface NearestFixture {
  readonly fixture: string;
  readonly path: string;
  readonly reason: string;
}

export interface UndeliveredCallback {
  readonly operation: string | null;
  readonly id: string | null;
  /** The callback URL without its query. */
  readonly url: string | null;
  /** Of the callback; left out where it was never made. */
  readonly type?: string;
  readonly why: string;
}

/** Whether everything happened that a test of a session's client was meant to make happen. */
export interface SessionVerificationReport {
  readonly ok: boolean;
  /** The sessions that a client used. */
  readonly sessions: number;
  /** That were pending at some time, and those of them that have an answer. */
  readonly calls: number;
  readonly answered: number;
  readonly problems: Findings<SessionProblem>;
}

/**
 * `unanswered`: a call was pending, and got no answer. `unexpected`: it got another one than its script expects. `unreached`: rounds
 * that never began. `refused`: a post of results, or the creation of a session, that was not accepted.
 */
export type SessionProblem =
  | {
      readonly kind: 'unanswered';
      readonly session: string;
      readonly call: string;
      readonly tool_name: string;
    }
  | {
      readonly kind: 'unexpected';
      readonly session: string;
      readonly call: string;
      readonly tool_name: string;
      /** In the settled call. */
      readonly path: string;
      readonly reason: string;
    }
  | { readonly kind: 'unreached'; readonly session: string; readonly rounds: number; readonly of: number }
  | {
      readonly kind: 'refused';
      /** Default: a post of results. */
      readonly what?: 'session';
      /** Null where it names none that there is. */
      readonly session: string | null;
      readonly status: number;
      readonly reason: string;
    };

const SHOWN = 100;

/** Counts all there is, and keeps the first hundred. */
export class FindingsCollector<T> {
  #count = 0;
  readonly #examples: T[] = [];

  add(example: T): void {
    this.#count++;
    if (this.#examples.length < SHOWN) this.#examples.push(example);
  }

  /** With `more` added for this once. */
  with(more: readonly T[] = []): Findings<T> {
    return {
      count: this.#count + more.length,
      examples: [...this.#examples, ...more.slice(0, Math.max(0, SHOWN - this.#examples.length))],
    };
  }
}
