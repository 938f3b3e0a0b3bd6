import { formatDuration } from '../../../text/format-duration.js';
import { endingOf } from '../../evidence/ending.js';
import type { CallEvidence } from '../../evidence/evidence.js';
import { type Leg, statusOf } from '../../evidence/leg.js';
import { broken, held, lacking, type Observation, unseen } from '../../observation.js';
import { type Spot, sent } from '../../spot.js';

const EXPECTED = '200, and an error result';

/** Whether a call that must not be executed was taken with 200 and ended in an error result. @param story what kind of call it is */
export function onRefusable(call: CallEvidence, story: string): readonly Observation[] {
  const odd = call.attempts.findLast(attempt => statusOf(attempt) !== null && statusOf(attempt) !== 200);
  const status = odd && statusOf(odd);
  if (odd && call.attempts.at(-1) === odd)
    return [broken(`${story} was answered ${status}`, [odd], { expected: EXPECTED, actual: String(status) })];
  return onTaken(call, story);
}

/** What was asked, and what the answer was. */
export function spotsOf({ attempts }: CallEvidence, result: Leg): readonly Spot[] {
  const asked = attempts.flatMap(attempt => [sent(attempt, 'operation'), sent(attempt, 'arguments')]);
  return [...asked, sent(result, 'text')];
}

function onTaken(call: CallEvidence, story: string): readonly Observation[] {
  const ending = endingOf(call);
  switch (ending.kind) {
    case 'result': {
      if (ending.isError) return [held([...call.attempts, ending.callback])];
      const actual = 'a result that is no error';
      return [
        broken(`${story} ended in ${actual}`, [...call.attempts, ending.callback], {
          expected: EXPECTED,
          actual,
          spots: spotsOf(call, ending.callback),
        }),
      ];
    }
    case 'silent': {
      const actual = `200, and nothing within ${formatDuration(ending.afterMs)}`;
      return [lacking(`${story} was answered ${actual}`, call.attempts, { expected: EXPECTED, actual })];
    }
    case 'open':
      return [unseen(`${story} was still pending when the transcript ended`, call.attempts)];
    case 'called-off':
      return [];
    default:
      return [unseen(`nothing that could be judged came of ${story}`, [...call.attempts, ...call.callbacks])];
  }
}
