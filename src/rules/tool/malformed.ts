import type { CallEvidence } from '../evidence/evidence.js';
import { type Leg, statusOf } from '../evidence/leg.js';
import { requestsOf } from '../evidence/requests.js';
import { vainWait } from '../evidence/windows.js';
import { broken, held, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { onRefusable } from './shared/refusals.js';

const STORY = 'a malformed payload';

/** TOOL-MALFORMED: 200 where it can be answered, an error result where there is somebody to tell, and never a crash. */
export const survivesMalformedPayloads: Rule = {
  id: 'TOOL-MALFORMED',
  masks: ['TOOL-ACK', 'TOOL-CLOSE'],
  absent: 'no malformed payload was sent',
  observe: evidence => {
    const malformed = evidence.calls.filter(({ reading }) => !reading.ok);
    return malformed.length === 0 ? [] : onMalformed(malformed, requestsOf(evidence));
  },
};

function onMalformed(malformed: readonly CallEvidence[], requests: readonly Leg[]): readonly Observation[] {
  return malformed.flatMap(call => {
    const attempt = call.attempts.at(-1);
    if (!attempt) return [];
    const later = requests.slice(requests.indexOf(attempt) + 1);
    if (hasGone(later))
      return [
        broken('nothing was answered any more after a malformed payload', [attempt, ...later.slice(0, 1)]),
      ];
    return statusOf(attempt) === null ? onUnanswered(attempt, call) : onAnswered(attempt, call);
  });
}

/** The first of a line of requests that nobody answers may be slow; where each of them broke, nobody is there. */
function hasGone(later: readonly Leg[]): boolean {
  return later.length > 0 && later.every(({ broken: end }) => end !== null && end.code !== 'ABORTED');
}

function onUnanswered(attempt: Leg, call: CallEvidence): readonly Observation[] {
  const { broken: end } = attempt;
  if (end && end.phase !== 'connect' && end.code !== 'ABORTED')
    return [broken(`the connection ended without an answer to ${STORY} (${end.code})`, [attempt])];
  return vainWait(call)
    ? [broken(`${STORY} was not answered`, [attempt], { expected: '200' })]
    : [unseen(`${STORY} was never answered`, [attempt])];
}

function onAnswered(attempt: Leg, call: CallEvidence): readonly Observation[] {
  if (!call.reading.ok && call.reading.addressee) return onRefusable(call, STORY);
  const status = statusOf(attempt);
  if (status === 200 || (isUnreadable(attempt) && isRefusal(status))) return [held([attempt])];
  return [broken(`${STORY} was answered ${status}`, [attempt], { expected: '200', actual: String(status) })];
}

/** Bytes that are no text: nothing in them could be answered. */
function isUnreadable({ request: { body } }: Leg): boolean {
  return body?.json.ok === false && body.json.reason.includes('UTF-8');
}

function isRefusal(status: number | null): boolean {
  return status !== null && status >= 400 && status < 500;
}
