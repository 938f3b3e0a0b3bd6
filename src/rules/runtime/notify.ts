import { isSame } from '../../exchange/callback-delivery.js';
import type { Evidence } from '../evidence/evidence.js';
import { endedAt, type Leg, statusOf } from '../evidence/leg.js';
import { broken, held, lacking, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-NOTIFY: a notice is sent once, and not again where it failed. */
export const notifiesOnce: Rule = {
  id: 'RT-NOTIFY',
  absent: 'no notice was sent',
  observe: ({ closes, cancels }: Evidence) => [...closes, ...cancels].map(onNotice),
};

function onNotice(notice: Leg, at: number, all: readonly Leg[]): Observation {
  const failed = all.slice(0, at).find(before => statusOf(before) !== 200 && isSameNotice(before, notice));
  if (!failed) return held([notice]);
  const tell = endedAt(failed) === null ? lacking : broken;
  return tell('a notice that failed was sent again', [failed, notice]);
}

function isSameNotice({ request: one }: Leg, { request: other }: Leg): boolean {
  return one.url === other.url && isSame(one.body ?? null, other.body ?? null);
}
