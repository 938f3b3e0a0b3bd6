import { ACK_SLOW_MS } from '../../exchange/exchange.js';
import { formatDuration } from '../../text/format-duration.js';
import { type Alone, madeAlone, sentBy } from '../evidence/alone.js';
import { isBehind, resultAfter } from '../evidence/behind.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { endedAt, type Leg, statusOf } from '../evidence/leg.js';
import { unacceptable } from '../evidence/unacceptable.js';
import { vainWait } from '../evidence/windows.js';
import { broken, doubtful, held, lacking, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';

const LATEST_MS = 1_000;
/** A machine is hardly too busy to answer at all for longer. */
const BUSY_MS = 3_000;
const ELSE_PROMPT = 'and in time when the same was called at another time';
const ONCE_LATE = 'late among many calls, and in time when the same was called alone';
/** Less of what was taken off is not worth a word, in ms. */
const TELLING_MS = 1;

/** TOOL-ACK: the 200 comes before the result, and soon. Another status for what must not be executed is of rules of its own. */
export const acknowledgesAtOnce: Rule = {
  id: 'TOOL-ACK',
  masks: [
    'TOOL-ASYNC',
    'TOOL-UNKNOWN-OP',
    'TOOL-BAD-ARGS',
    'TOOL-EXTRA',
    'TOOL-MALFORMED',
    'TOOL-RETRY',
    'TOOL-NORETRY',
  ],
  absent: 'no invocation was sent',
  observe: (evidence: Evidence) => {
    const aloneOf = madeAlone(evidence);
    const prompt = new Set(evidence.calls.filter(isPrompt).map(sentBy));
    return evidence.calls
      .filter(({ reading }) => reading.ok)
      .flatMap(call => {
        const terms = {
          isSound: unacceptable(call, evidence) === null,
          isElsePrompt: prompt.has(sentBy(call)),
          alone: aloneOf(call),
        };
        return call.attempts.flatMap(attempt => onAttempt(attempt, call, terms));
      });
  },
};

interface Terms {
  /** Whether it is to be answered 200. */
  readonly isSound: boolean;
  /** Whether the same call was acknowledged in time when it was made at another time. */
  readonly isElsePrompt: boolean;
  /** How the same call was acknowledged when it was made alone: that counts, where it is known. */
  readonly alone: Alone | undefined;
}

function isPrompt({ attempts }: CallEvidence): boolean {
  return attempts.some(each => statusOf(each) === 200 && waitedFor(each) <= ACK_SLOW_MS);
}

/** Until it was answered, or given up, in ms. */
function waitedFor(attempt: Leg): number {
  return (endedAt(attempt) ?? Number.POSITIVE_INFINITY) - attempt.request.at;
}

function onAttempt(attempt: Leg, call: CallEvidence, terms: Terms): readonly Observation[] {
  const { isSound, isElsePrompt, alone } = terms;
  const status = statusOf(attempt);
  const ended = endedAt(attempt);
  if (status === null || ended === null)
    return attempt === call.attempts.at(-1) ? onUnanswered(attempt, call, isElsePrompt) : [];
  if (status !== 200) return isSound ? [onRefused(attempt, status, call)] : [];
  const result = resultAfter(attempt, call);
  if (result && isBehind(attempt, result) && !alone?.isInOrder)
    return [broken('the 200 came after the result', [attempt, result])];
  return [inTime(ended - attempt.request.at, attempt, alone)];
}

function onUnanswered(attempt: Leg, call: CallEvidence, isElsePrompt: boolean): readonly Observation[] {
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

/** Who wants credentials can be asked again with them; who was busy once may have been so rightly. */
function onRefused(attempt: Leg, status: number, { attempts }: CallEvidence): Observation {
  if (status === 401 || status === 403)
    return unseen(`answered ${status}: it wants credentials (--bearer, --header)`, [attempt]);
  const wasTakenLater = attempts.slice(attempts.indexOf(attempt)).some(each => statusOf(each) === 200);
  const difference = { expected: '200', actual: String(status) };
  return wasTakenLater && status >= 500
    ? doubtful(`answered ${status}, and 200 when it was sent again`, [attempt], difference)
    : broken(`answered ${status}`, [attempt], difference);
}

function inTime(among: number, attempt: Leg, alone: Alone | undefined): Observation {
  if (among <= ACK_SLOW_MS) return held([attempt]);
  const ms = Math.min(among, alone?.ms ?? among);
  const off = takenOff(alone);
  if (ms <= ACK_SLOW_MS) return held([attempt], ONCE_LATE + off);
  const took = `the 200 took ${formatDuration(ms)}${alone ? `, called alone${off}` : ''}`;
  return ms > LATEST_MS
    ? broken(took, [attempt], { expected: `within ${LATEST_MS} ms`, actual: formatDuration(ms) })
    : doubtful(`${took}, over ${ACK_SLOW_MS} ms`, [attempt]);
}

function takenOff(alone: Alone | undefined): string {
  const offMs = alone?.offMs ?? 0;
  return offMs < TELLING_MS ? '' : ` (not counting ${formatDuration(offMs)} that the toolset took as well)`;
}
