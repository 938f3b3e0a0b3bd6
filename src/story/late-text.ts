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
