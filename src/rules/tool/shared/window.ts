import type { CallEvidence } from '../../evidence/evidence.js';
import { vainWait } from '../../evidence/windows.js';

/** What helps where something did not come in time: seed 004 knows no time that a tool must keep, so silence alone proves nothing. */
export function ifItTakesLonger(call: Pick<CallEvidence, 'expiries'>): string {
  const option = vainWait(call)?.what === 'timeout' ? "the caller's --timeout" : '--probe-timeout';
  return `raise ${option} if the tool takes longer`;
}
