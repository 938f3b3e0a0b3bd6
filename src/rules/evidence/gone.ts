import { breakOf } from './break.js';
import type { Leg } from './leg.js';
import { requestsOf } from './requests.js';

/** A tool that nobody could reach any more. */
export interface Gone {
  /** The place of the last request that was answered, or that may have been. */
  readonly alive: number;
  /** The requests since then, each of which broke; at least one. */
  readonly since: readonly Leg[];
}

/** Null where the last request was answered, or was given up by us. */
export function goneIn(evidence: Parameters<typeof requestsOf>[0]): Gone | null {
  const requests = requestsOf(evidence);
  const last = requests.findLastIndex(leg => [null, 'called-off'].includes(breakOf(leg)));
  const since = requests.slice(last + 1);
  return since.length > 0 ? { alive: requests[last]?.request.seq ?? -1, since } : null;
}
