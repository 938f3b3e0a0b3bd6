import type { CallEvidence, Evidence, Expired } from './evidence.js';

/** What says that a call was waited for in vain; undefined where nobody did. */
export function vainWait({ expiries }: Pick<CallEvidence, 'expiries'>): Expired | undefined {
  return expiries.find(({ what }) => what === 'timeout' || what === 'observation');
}

/** The shortest time for which it was watched what came after any of these moments, in ms. */
export function shortestWatch(moments: readonly number[], evidence: Pick<Evidence, 'until'>): number {
  const latest = moments.reduce((last, moment) => Math.max(last, moment), 0);
  return watchedSince(latest, evidence);
}

/** For how long it was watched what came after a moment, in ms. */
export function watchedSince(at: number, { until }: Pick<Evidence, 'until'>): number {
  return Math.max(0, until - at);
}
