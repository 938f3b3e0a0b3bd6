import { formatDuration } from '../../../text/format-duration.js';
import { resultAfter } from '../../evidence/behind.js';
import type { CallEvidence } from '../../evidence/evidence.js';
import { type Leg, waitedFor } from '../../evidence/leg.js';
import { vainWait } from '../../evidence/windows.js';
import { broken, doubtful, lacking, type Observation, unseen } from '../../observation.js';

/** A machine is hardly too busy to answer at all for longer. */
const BUSY_MS = 3_000;
const ELSE_PROMPT = 'and in time when the same was called at another time';

/** Of the last attempt of a call. @param isElsePrompt whether the same was acknowledged in time when it was called at another time */
export function onUnanswered(
  attempt: Leg,
  call: CallEvidence,
  isElsePrompt: boolean,
): readonly Observation[] {
  const waited = waitedFor(attempt);
  if (isElsePrompt && attempt.broken?.code === 'ETIMEDOUT' && waited <= BUSY_MS)
    return [doubtful(`no answer within ${formatDuration(waited)}, ${ELSE_PROMPT}`, [attempt])];
  const result = resultAfter(attempt, call);
  if (result) return [lacking('a result came, and no acknowledgement', [attempt, result])];
  const { phase = 'answer', code = 'ABORTED' } = attempt.broken ?? {};
  const wait = vainWait(call);
  if (wait && isGivenUp(code))
    return [lacking(`no answer within ${formatDuration(wait.afterMs)}`, [attempt])];
  if (code === 'ABORTED')
    return attempt.broken ? [] : [unseen('an invocation was never answered', [attempt])];
  return isReached(phase)
    ? [broken(`the connection ended without an answer (${code})`, [attempt])]
    : [unseen(`an invocation could not be sent (${code})`, [attempt])];
}

/** By us, who have waited long enough. */
function isGivenUp(code: string): boolean {
  return code === 'ABORTED' || code === 'ETIMEDOUT';
}

function isReached(phase: string): boolean {
  return phase === 'send' || phase === 'answer';
}
