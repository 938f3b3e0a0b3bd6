import type { Findings } from './report.js';

/** Whether everything happened that a test of a session's client was meant to make happen. */
export interface SessionVerificationReport {
  readonly ok: boolean;
  /** Those that somebody was interested in. */
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
      /** Results, unless told. */
      readonly what?: 'session';
      /** Null where it names none that there is. */
      readonly session: string | null;
      readonly status: number;
      readonly reason: string;
    };
