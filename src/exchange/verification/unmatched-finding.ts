import type { Content } from '../content.js';
import { type Caller, errorTextOf } from './caller.js';
import type { UnmatchedCall } from './report.js';

/** A call that no fixture answered; why may be known only once its error result is made. */
export class UnmatchedFinding {
  #told: UnmatchedCall;

  constructor({ operation, id, group_id }: Caller, why: Pick<UnmatchedCall, 'reason' | 'nearest'>) {
    this.#told = { operation, id, group_id, ...why };
  }

  get told(): UnmatchedCall {
    return this.#told;
  }

  explain(result: Content): void {
    if (this.#told.reason !== undefined || this.#told.nearest) return;
    const reason = errorTextOf(result);
    if (reason !== null) this.#told = { ...this.#told, reason };
  }
}
