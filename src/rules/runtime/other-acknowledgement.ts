import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { statusOf } from '../evidence/leg.js';
import { isResult } from '../evidence/results.js';
import { broken, held, lacking, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-NON200: only a runtime's own transcript tells what it made of an acknowledgement that is not 200. */
export const failsOnOtherAcknowledgements: Rule = {
  id: 'RT-NON200',
  absent: 'no runtime tells in it what it made of an acknowledgement other than 200',
  observe: ({ calls, observer }: Evidence) => (observer === 'runtime' ? calls.flatMap(onCall) : []),
};

function onCall({ attempts, callbacks, decisions, expiries }: CallEvidence): Observation[] {
  const last = attempts.at(-1);
  const status = last && statusOf(last);
  if (!last || status === null || status === undefined || status === 200) return [];
  if (decisions.some(({ what }) => what === 'give-up')) return [held([last])];
  const result = callbacks.find(isResult);
  if (result && result.request.at < last.request.at) return []; // the tool has it, whatever it answers
  const what = `went on to wait after the acknowledgement ${status}`;
  if (expiries.length > 0) return [broken(what, [last])];
  if (result) return [lacking(what, [last, result])]; // that it gave up would be a line of its own
  return [unseen(`what became of the acknowledgement ${status} is not in the transcript`, [last])];
}
