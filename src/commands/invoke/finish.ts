import { outcomeOf } from '../../exchange/ending.js';
import type { Exchange } from '../../exchange/exchange.js';
import type { Trouble } from '../../reporters/reporter.js';
import { type ExitStatus, statusOfFailure, statusOfOutcome } from '../exit-status.js';

/** What calling came to. */
export interface Finish {
  /** Undefined where there is none, or not just one. */
  readonly exchange: Exchange | undefined;
  readonly trouble: Trouble | null;
  readonly status: ExitStatus;
}

/** The status of one call: why there is no result, else what its outcome is. */
export function statusOfCall(exchange: Exchange, trouble: Trouble | null): ExitStatus {
  return trouble ? statusOfFailure(trouble.code) : statusOfOutcome(outcomeOf(exchange)?.type ?? 'unknown');
}
