import type { Arrival, Exchange } from '../exchange/exchange.js';

/** What is said of a callback that came too late: the same wherever it is told. */
export function lateText(message: Arrival['message'], settled: Exchange['settled']): string {
  const end = settled?.by === 'cancel' ? 'was cancelled' : 'had ended';
  return `${message?.type ?? 'callback'} came after the call ${end}; it changes nothing`;
}
