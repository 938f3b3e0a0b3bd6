import { bytesText } from '../../../text/bytes-text.js';
import { formatDuration } from '../../../text/format-duration.js';
import { bodySize } from '../../evidence/ack-body.js';
import type { Evidence } from '../../evidence/evidence.js';
import { endedAt, type Leg, statusOf } from '../../evidence/leg.js';
import { broken, held, type Observation, unseen } from '../../observation.js';
import { onDeath } from './death.js';

/** Notices that went to `path`: 200 with an empty body, whatever they name; and the tool lives on. */
export function onNotices(notices: readonly Leg[], path: string, evidence: Evidence): readonly Observation[] {
  const { death } = evidence;
  const end = death && notices.includes(death.message) ? onDeath(evidence, 'notice', path) : null;
  const others = notices.filter(notice => notice !== death?.message);
  return [...(end ? [end] : []), ...others.map(notice => noticeFault(notice, path) ?? onTaken(notice, path))];
}

function onTaken(notice: Leg, path: string): Observation {
  if (bodySize(notice) === 0) return held([notice]);
  const announced = notice.response?.headers['content-length'];
  const actual = announced === undefined ? 'a body' : `a body of ${bytesText(Number(announced))}`;
  return broken(`${path} answered 200 with ${actual}`, [notice], { expected: 'an empty body', actual });
}

/** Why a notice was not answered with 200; null where it was. */
function noticeFault(notice: Leg, path: string): Observation | null {
  const status = statusOf(notice);
  if (status === 200) return null;
  if (status !== null)
    return broken(`${path} answered ${status}`, [notice], { expected: '200', actual: String(status) });
  const { phase, code } = notice.broken ?? {};
  return phase === undefined || phase === 'connect' || phase === 'address'
    ? unseen(`${path} could not be reached${code === undefined ? '' : ` (${code})`}`, [notice])
    : broken(`${path} did not answer ${howLong(notice)}`, [notice], { expected: '200' });
}

/** Who has waited long enough is us. */
function howLong(notice: Leg): string {
  const { code } = notice.broken ?? {};
  const ended = endedAt(notice);
  return code === 'ETIMEDOUT' && ended !== null
    ? `within ${formatDuration(ended - notice.request.at)}`
    : `(${code})`;
}
