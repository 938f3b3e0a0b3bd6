import type { Arrival, Exchange } from '../exchange/exchange.js';
import { formatDuration } from '../text/format-duration.js';

/** What is said of a callback that came too late, the same wherever it is told. @param sinceMs how long after the call was sent */
export function lateText(
  message: Arrival['message'],
  settled: Exchange['settled'],
  sinceMs: number | null = null,
): string {
  const end = settled?.by === 'cancel' ? 'was cancelled' : 'had ended';
  const since = sinceMs === null ? '' : `, ${formatDuration(sinceMs)} after it was sent`;
  return `${message?.type ?? 'callback'} came after the call ${end}${since}; it changes nothing`;
}

export type Refusal = Extract<Arrival['verdict'], { kind: 'rejected' | 'discarded' }>;

/** What is wrong with a callback that a recorded runtime answered otherwise than this program would. */
export function refusalWords({ message }: Arrival, { kind }: Refusal): string {
  if (kind === 'rejected') return 'is invalid';
  return message?.type === 'subscription_event'
    ? 'belongs to no open subscription'
    : 'matches no pending call';
}

/** Null where the answer was that of this program, or is still to come. */
export function recordedAnswer({ status, broken, verdict }: Arrival): string | null {
  if (status !== undefined) return status === verdict.status ? null : `the runtime answered ${status}`;
  return broken === undefined ? null : `the runtime did not answer (${broken})`;
}
