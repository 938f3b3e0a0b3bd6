import { ACK_SLOW_MS } from '../../exchange/exchange.js';
import { type Alone, madeAlone, sentBy } from '../evidence/alone.js';
import { resultAfter } from '../evidence/behind.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { type Leg, statusOf, waitedFor } from '../evidence/leg.js';
import { unacceptable } from '../evidence/unacceptable.js';
import { broken, doubtful, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { onAnswered } from './ack/promptness.js';
import { onUnanswered } from './ack/unanswered.js';

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
          isRepeated: evidence.isProbed,
          takenAt: call.attempts.findLast(each => statusOf(each) === 200)?.request.seq ?? -1,
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
  /** How the same call was acknowledged when it was made alone. */
  readonly alone: Alone | undefined;
  /** Whether what is late is made again alone. */
  readonly isRepeated: boolean;
  /** The place of the last attempt that was answered 200; -1 where there is none. */
  readonly takenAt: number;
}

function isPrompt({ attempts }: CallEvidence): boolean {
  return attempts.some(each => statusOf(each) === 200 && waitedFor(each) <= ACK_SLOW_MS);
}

function onAttempt(attempt: Leg, call: CallEvidence, terms: Terms): readonly Observation[] {
  const { isSound, isElsePrompt, alone, isRepeated } = terms;
  const status = statusOf(attempt);
  if (status === null)
    return attempt === call.attempts.at(-1) ? onUnanswered(attempt, call, isElsePrompt) : [];
  if (status !== 200) return isSound ? [onRefused(attempt, status, terms)] : [];
  return [onAnswered({ attempt, result: resultAfter(attempt, call), alone, isRepeated })];
}

/** Who wants credentials can be asked again with them; who was busy once may have been so rightly. */
function onRefused(attempt: Leg, status: number, { takenAt }: Terms): Observation {
  if (status === 401 || status === 403)
    return unseen(`answered ${status}: it wants credentials (--bearer, --header)`, [attempt]);
  const wasTakenLater = takenAt > attempt.request.seq;
  const difference = { expected: '200', actual: String(status) };
  return wasTakenLater && status >= 500
    ? doubtful(`answered ${status}, and 200 when it was sent again`, [attempt], difference)
    : broken(`answered ${status}`, [attempt], difference);
}
