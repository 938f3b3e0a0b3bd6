import type { CallbackEvidence, CallEvidence, Evidence } from '../evidence/evidence.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** RT-PENDING: while a person is asked the call is pending, and is not sent again. */
export const keepsAsking: Rule = {
  id: 'RT-PENDING',
  absent: 'no tool asked the user anything',
  observe: ({ calls }: Evidence) => calls.flatMap(onCall),
};

function onCall({ callbacks, attempts }: CallEvidence): Observation[] {
  const question = callbacks.find(isQuestion);
  if (!question) return [];
  const again = attempts.find(({ request }) => request.at > (question.response?.at ?? question.request.at));
  return [
    again ? broken('the invocation was sent again after the question', [question, again]) : held([question]),
  ];
}

function isQuestion({ reading }: CallbackEvidence): boolean {
  return reading?.ok === true && (reading.message.type === 'oauth' || reading.message.type === 'user_choice');
}
