import type { Case } from '../fixtures/cases/case.js';
import type { RequirementId } from '../protocol/requirements.js';
import type { ListenerOptions } from '../runtime/callback-server.js';
import { discover } from '../runtime/discover.js';
import type { Wire } from '../runtime/wire.js';
import type { Clock } from '../system/clock.js';

export interface ProbeOptions {
  /** All facts go to its log. */
  readonly wire: Wire;
  readonly clock: Clock;
  readonly listener: ListenerOptions;
  /** Base of the tool server. */
  readonly url: string;
  /** Named by hand: called whatever their annotations say. */
  readonly operations: readonly string[];
  readonly cases: readonly Case[];
  /** Requirements wanted: a probe that shows none of them is not run. */
  readonly wants: (id: RequirementId) => boolean;
  /** How long each observation is waited for. */
  readonly probeTimeoutMs: number;
  /** A consent URL for a person. */
  readonly onConsent: (url: string) => void;
  readonly onProgress: (done: number, total: number, probe: string) => void;
  /** Stops at once; what was seen so far is in the log. */
  readonly signal: AbortSignal;
}

/** Stands in until there are probes. */
export async function runProbes({ wire, url }: ProbeOptions): Promise<void> {
  await discover(wire, url);
}
