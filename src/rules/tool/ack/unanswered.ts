import { formatDuration } from '../../../text/format-duration.js';
import { resultAfter } from '../../evidence/behind.js';
import { breakOf } from '../../evidence/break.js';
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
  if (call.isCutShort)
    return [unseen('the tool died of something else before it acknowledged a call', [attempt])];
  const { broken: end } = attempt;
  const how = breakOf(attempt);
  const waited = waitedFor(attempt);
  if (isElsePrompt && how === 'timed-out' && waited <= BUSY_MS)
    return [doubtful(`no answer within ${formatDuration(waited)}, ${ELSE_PROMPT}`, [attempt])];
  const result = resultAfter(attempt, call);
  if (result) return [lacking('a result came, and no acknowledgement', [attempt, result])];
  const wait = vainWait(call);
  if (wait && how !== 'cut' && how !== 'failed')
    return [lacking(`no answer within ${formatDuration(wait.afterMs)}`, [attempt])];
  if (!end) return [unseen('an invocation was never answered', [attempt])];
  if (how === 'called-off') return [];
  return isReached(end.phase)
    ? [broken(`the connection ended without an answer (${end.code})`, [attempt])]
    : [unseen(`an invocation could not be sent (${end.code})`, [attempt])];
}

function isReached(phase: string): boolean {
  return phase === 'send' || phase === 'answer';
}
