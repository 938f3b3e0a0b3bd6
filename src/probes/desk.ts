import type { RequirementId } from '../protocol/requirements.js';
import type { Delivery } from '../runtime/notices.js';
import type { Wire } from '../runtime/wire.js';
import type { ProbeListener } from './listener.js';
import type { Patience } from './patience.js';

/** What everything that is sent goes through. */
export interface Desk extends Patience {
  readonly wire: Wire;
  readonly listener: ProbeListener;
  /** Of the tool server. */
  readonly base: string;
  /** Where invocations go. */
  readonly endpoint: string;
  /** How long an observation is waited for, in ms; less once the tool has been silent for a whole window. */
  readonly windowMs: number;
  /** How long the answer to a request is waited for, in ms; less once the tool has answered nothing for a whole window. */
  readonly answerMs: number;
  /** Requirements wanted: what shows others alone is not done. */
  readonly wants: (id: RequirementId) => boolean;
  readonly onConsent: (url: string) => void;
  /** Threads that were invented, and are closed in the end. */
  readonly threads: Set<string>;
}

/** A tool has as long for a notice as for anything else. */
export function patienceOf({ answerMs: timeoutMs, signal }: Desk): Pick<Delivery, 'timeoutMs' | 'signal'> {
  return { timeoutMs, signal };
}

/** What is meant to be seen, as the log is told it. */
export interface Plan {
  readonly id: string;
  readonly checks: readonly RequirementId[];
  /** Which of the cases it is, from 0. */
  readonly case?: number;
  /** Its calls were made before, and are made once more alone. */
  readonly again?: true;
}

/** @param calls made for it; none where it is only meant */
export function recordPlan({ log }: Wire, { id, checks, case: index, again }: Plan, calls?: string[]): void {
  log.emit({
    kind: 'planned',
    by: 'probe',
    plan: id,
    checks: [...checks],
    ...(index !== undefined && { case: index }),
    ...(again && { again }),
    ...(calls && { calls }),
  });
}
