import type { RequirementId } from '../protocol/requirements.js';
import type { Evidence } from './evidence/evidence.js';
import type { Observation } from './observation.js';

/** Judges one requirement by what happened. Pure: a live run, a recording and a log of CI are judged alike. */
export interface Rule {
  readonly id: RequirementId;
  /** Requirements that hardly can be held where this one is not: their breach may be no second fault. */
  readonly masks?: readonly RequirementId[];
  /** Each place at which it was held or not, in order; none where there was nothing to see. */
  readonly observe: (evidence: Evidence) => readonly Observation[];
  /** Of a SHOULD, when it is a failure all the same: `the tool dies of it`. */
  readonly failsWhere?: string;
  /** It is about what some operations do: those that were not called may. */
  readonly isOffered?: true;
  /** Why there was nothing to see: `no callback was answered 5xx`. */
  readonly absent: string;
}
