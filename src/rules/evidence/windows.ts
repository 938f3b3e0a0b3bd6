import type { CallEvidence, Evidence, Expired } from './evidence.js';

/** What says that a call was waited for in vain; undefined where nobody did. */
export function vainWait({ expiries }: Pick<CallEvidence, 'expiries'>): Expired | undefined {
  return expiries.find(({ what }) => what === 'timeout' || what === 'observation');
}

/** For how long it was watched what came after a moment, in ms. */
export function watchedSince(at: number, { until }: Pick<Evidence, 'until'>): number {
  return Math.max(0, until - at);
}
