import type { Evidence } from '../evidence/evidence.js';
import { endedAt, type Leg, statusOf } from '../evidence/leg.js';
import { broken, held, lacking, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-NOTIFY: a notice is sent once, and not again where it failed. */
export const notifiesOnce: Rule = {
  id: 'RT-NOTIFY',
  absent: 'no notice was sent',
  observe: ({ closes, cancels }: Evidence) => {
    const failed = new Map<string, Leg>();
    return [...closes, ...cancels].map(notice => onNotice(notice, failed));
  },
};

/** @param failures the first notice that failed, by where it went and what it says */
function onNotice(notice: Leg, failures: Map<string, Leg>): Observation {
  const { url, body } = notice.request;
  const name = `${url} ${body?.sha256 ?? ''}`;
  const failed = failures.get(name);
  if (!failed) {
    if (statusOf(notice) !== 200) failures.set(name, notice);
    return held([notice]);
  }
  const tell = endedAt(failed) === null ? lacking : broken;
  return tell('a notice that failed was sent again', [failed, notice]);
}
