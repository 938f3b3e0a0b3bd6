import { bytesText } from '../../text/bytes-text.js';
import { bodySize } from '../evidence/ack-body.js';
import type { Leg } from '../evidence/leg.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';
import { noticeFault } from './shared/notices.js';

/** TOOL-CLOSE: 200 with nothing in it, whatever is closed. */
export const takesCloses: Rule = {
  id: 'TOOL-CLOSE',
  absent: 'no thread was closed',
  observe: ({ closes }) => closes.map(notice => noticeFault(notice, '/close_thread') ?? onTaken(notice)),
};

function onTaken(notice: Leg): Observation {
  if (bodySize(notice) === 0) return held([notice]);
  const announced = notice.response?.headers['content-length'];
  const actual = announced === undefined ? 'a body' : `a body of ${bytesText(Number(announced))}`;
  return broken(`/close_thread answered 200 with ${actual}`, [notice], { expected: 'an empty body', actual });
}
