import type { CallbackEvidence, Evidence } from '../evidence/evidence.js';
import { statusOf } from '../evidence/leg.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-DUP: a delivery that comes again is answered 200. */
export const acceptsDuplicates: Rule = {
  id: 'RT-DUP',
  absent: 'no delivery came twice',
  observe: ({ calls }: Evidence) => calls.flatMap(({ callbacks }) => callbacks.flatMap(onCallback)),
};

function onCallback(callback: CallbackEvidence): Observation[] {
  const status = statusOf(callback);
  if (callback.verdict?.kind !== 'duplicate' || !callback.verdict.identical || status === null) return [];
  if (status === 200) return [held([callback])];
  const what = `a delivery that came again was answered ${status}`;
  return [broken(what, [callback], { expected: '200', actual: String(status) })];
}
