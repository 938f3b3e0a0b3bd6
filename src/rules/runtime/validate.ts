import type { CallbackEvidence, Evidence } from '../evidence/evidence.js';
import { isRefused, statusOf } from '../evidence/leg.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-VALIDATE: a callback that breaks the schema of its type is answered 4xx. */
export const validatesCallbacks: Rule = {
  id: 'RT-VALIDATE',
  absent: 'no callback broke its schema',
  observe: ({ calls, strays }: Evidence) =>
    [...calls.flatMap(({ callbacks }) => callbacks), ...strays].flatMap(onCallback),
};

function onCallback(callback: CallbackEvidence): Observation[] {
  const { reading } = callback;
  const status = statusOf(callback);
  if (!reading || reading.ok || status === null) return [];
  if (isRefused(callback)) return [held([callback])];
  const what = `a callback that breaks its schema was answered ${status}: ${reading.faults[0]}`;
  return [broken(what, [callback], { expected: '4xx', actual: String(status) })];
}
