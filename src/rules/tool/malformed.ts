import { breakOf } from '../evidence/break.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { type Leg, statusOf } from '../evidence/leg.js';
import { isBodyLost } from '../evidence/lost-body.js';
import { vainWait } from '../evidence/windows.js';
import { broken, held, lacking, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { onDeath } from './shared/death.js';
import { onRefusable } from './shared/refusals.js';

const STORY = 'a malformed payload';

/** TOOL-MALFORMED: 200 where it can be answered, an error result where there is somebody to tell, and never a crash. */
export const survivesMalformedPayloads: Rule = {
  id: 'TOOL-MALFORMED',
  masks: ['TOOL-ACK', 'TOOL-CLOSE', 'TOOL-CANCEL', 'TOOL-UNKNOWN-OP', 'TOOL-BAD-ARGS', 'TOOL-ALWAYS'],
  failsWhere: 'the tool dies of it',
  absent: 'no malformed payload was sent',
  observe: evidence => {
    const malformed = evidence.calls.filter(isMalformed);
    return malformed.length === 0 ? [] : onMalformed(malformed, evidence);
  },
};

/** What was not kept may have been well-formed. */
function isMalformed({ reading, attempts: [first] }: CallEvidence): boolean {
  return !reading.ok && first !== undefined && !isBodyLost(first.request);
}

function onMalformed(malformed: readonly CallEvidence[], evidence: Evidence): readonly Observation[] {
  const end = onDeath(evidence, 'malformed', STORY);
  if (end) return [end];
  return malformed.flatMap(call => {
    const attempt = call.attempts.at(-1);
    if (!attempt) return [];
    return statusOf(attempt) === null ? onUnanswered(attempt, call) : onAnswered(attempt, call);
  });
}

function onUnanswered(attempt: Leg, call: CallEvidence): readonly Observation[] {
  const { broken: end } = attempt;
  const how = breakOf(attempt);
  if (call.isCutShort)
    return [unseen(`the tool died of something else before it answered ${STORY}`, [attempt])];
  if (end?.phase === 'connect') return [unseen(`${STORY} could not be sent (${end.code})`, [attempt])];
  if (end && (how === 'cut' || how === 'failed'))
    return [broken(`the connection ended without an answer to ${STORY} (${end.code})`, [attempt])];
  return how === 'timed-out' || vainWait(call)
    ? [lacking(`${STORY} was not answered`, [attempt], { expected: '200' })]
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
