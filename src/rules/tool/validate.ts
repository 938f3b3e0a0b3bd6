import { endingOf } from '../evidence/ending.js';
import type { CallEvidence } from '../evidence/evidence.js';
import { told } from '../evidence/messages.js';
import { unacceptable } from '../evidence/unacceptable.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

const STORIES = {
  'unknown-operation': 'an unknown operation',
  'bad-arguments': 'a call whose arguments break its inputSchema',
} as const;

/** TOOL-VALIDATE: what must not be executed is not. Whether it is told so, and how, is of TOOL-UNKNOWN-OP and TOOL-BAD-ARGS. */
export const executesOnlyValidCalls: Rule = {
  id: 'TOOL-VALIDATE',
  masks: ['TOOL-UNKNOWN-OP', 'TOOL-BAD-ARGS'],
  absent: 'no call with an unknown operation or with broken arguments was made',
  observe: evidence =>
    evidence.calls.flatMap(call => {
      const why = unacceptable(call, evidence);
      return why === null || why === 'malformed' ? [] : onCall(call, STORIES[why]);
    }),
};

function onCall(call: CallEvidence, story: string): readonly Observation[] {
  const ending = endingOf(call);
  const work = told(call).find(({ message }) => message.type !== 'tool_result');
  if (work) return [broken(`${story} was begun: a ${work.message.type} came`, [work.callback])];
  if (ending.kind === 'refused') return [held([ending.attempt])];
  if (ending.kind !== 'result') return [];
  if (ending.isError) return [held([ending.callback])];
  return [
    broken(
      `${story} was executed: it ended in a result that is no error`,
      [...call.attempts, ending.callback],
      {
        expected: 'an error result',
        actual: 'a result that is no error',
      },
    ),
  ];
}
