import type { CallbackEvidence, Evidence } from '../evidence/evidence.js';
import { isRefused, statusOf } from '../evidence/leg.js';
import { held, lacking, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-SUB: the events of a subscription that is open are taken. What becomes of others cannot be seen. */
export const tracksSubscriptions: Rule = {
  id: 'RT-SUB',
  absent: 'no event of an open subscription came',
  observe: ({ calls }: Evidence) => calls.flatMap(({ callbacks }) => callbacks.flatMap(onCallback)),
};

function onCallback(callback: CallbackEvidence): Observation[] {
  const { reading, verdict } = callback;
  if (!reading?.ok || reading.message.type !== 'subscription_event') return [];
  if (verdict?.kind === 'discarded')
    return isRefused(callback) ? [held([callback], 'others are discarded')] : [];
  const status = statusOf(callback);
  if (status === null || verdict?.kind !== 'noted') return [];
  return [
    isRefused(callback)
      ? lacking(`an event of an open subscription was answered ${status}`, [callback])
      : held([callback]),
  ];
}
