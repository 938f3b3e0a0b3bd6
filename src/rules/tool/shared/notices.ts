import { formatDuration } from '../../../text/format-duration.js';
import { endedAt, type Leg, statusOf } from '../../evidence/leg.js';
import { broken, type Observation, unseen } from '../../observation.js';

/** Why a notice was not answered with 200; null where it was. @param path where it went */
export function noticeFault(notice: Leg, path: string): Observation | null {
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
