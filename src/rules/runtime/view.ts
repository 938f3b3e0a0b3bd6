import type { CallbackEvidence, Evidence } from '../evidence/evidence.js';
import { isRefused, statusOf } from '../evidence/leg.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-VIEW: a view is taken, and one of an unknown type ignored: neither is refused. */
export const takesViews: Rule = {
  id: 'RT-VIEW',
  absent: 'no view came',
  observe: ({ calls }: Evidence) => calls.flatMap(({ callbacks }) => callbacks.flatMap(onCallback)),
};

function onCallback(callback: CallbackEvidence): Observation[] {
  const { reading, verdict } = callback;
  const status = statusOf(callback);
  if (!reading?.ok || reading.message.type !== 'view_update' || status === null) return [];
  if (verdict?.kind !== 'noted' && verdict?.kind !== 'ignored') return [];
  return [isRefused(callback) ? broken(`a view was answered ${status}`, [callback]) : held([callback])];
}
