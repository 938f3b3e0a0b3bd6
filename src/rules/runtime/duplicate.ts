import type { CallbackEvidence, CallEvidence, Evidence } from '../evidence/evidence.js';
import { statusOf } from '../evidence/leg.js';
import { sayingOf } from '../evidence/messages.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-DUP: a delivery that comes again is answered 200. */
export const acceptsDuplicates: Rule = {
  id: 'RT-DUP',
  absent: 'no delivery came twice',
  observe: ({ calls }: Evidence) => calls.flatMap(onCall),
};

/** What was not taken is no duplicate when it comes again. */
function onCall({ callbacks }: CallEvidence): Observation[] {
  const taken = new Set<string | null>();
  return callbacks.flatMap(callback => {
    const observed = taken.has(sayingOf(callback)) ? onDuplicate(callback) : [];
    if (isTaken(callback)) taken.add(sayingOf(callback));
    return observed;
  });
}

function isTaken(callback: CallbackEvidence): boolean {
  const status = statusOf(callback) ?? 0;
  return status >= 200 && status < 300;
}

function onDuplicate(callback: CallbackEvidence): Observation[] {
  const status = statusOf(callback);
  if (callback.verdict?.kind !== 'duplicate' || !callback.verdict.identical || status === null) return [];
  if (status === 200) return [held([callback])];
  const what = `a delivery that came again was answered ${status}`;
  return [broken(what, [callback], { expected: '200', actual: String(status) })];
}
