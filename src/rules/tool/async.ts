import { bytesText } from '../../text/bytes-text.js';
import { formatDuration } from '../../text/format-duration.js';
import { bodySize, carriesOutcome } from '../evidence/ack-body.js';
import { endingOf } from '../evidence/ending.js';
import type { CallEvidence } from '../evidence/evidence.js';
import { type Leg, statusOf } from '../evidence/leg.js';
import { doubtful, held, heldBut, lacking, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';
import { OF_CALLBACKS } from './shared/follow-ups.js';

/** Bytes of a nod, such as `OK`: what is longer says something. */
const NOD = 64;
const EXPECTED = 'an empty acknowledgement, and a callback';

/** TOOL-ASYNC: what came of a call is POSTed to its callback URL; nobody reads the acknowledgement's body. */
export const answersByCallback: Rule = {
  id: 'TOOL-ASYNC',
  masks: ['TOOL-ALWAYS', ...OF_CALLBACKS],
  absent: 'no acknowledged invocation came to an outcome',
  observe: ({ calls }) =>
    calls.flatMap(call => {
      const acknowledgement = call.attempts.find(attempt => statusOf(attempt) === 200);
      return acknowledgement ? onAcknowledged(acknowledgement, call) : [];
    }),
};

function onAcknowledged(acknowledgement: Leg, call: CallEvidence): readonly Observation[] {
  const ending = endingOf(call);
  if (call.callbacks.length > 0) return [besideCallback(acknowledgement, call)];
  const size = bodySize(acknowledgement);
  if (ending.kind !== 'silent' || size === 0) return [];
  const what = `the acknowledgement has a body of ${bytesText(size)}, and no callback came within ${formatDuration(ending.afterMs)}`;
  const difference = { expected: EXPECTED, actual: `a body of ${bytesText(size)}` };
  return carriesOutcome(acknowledgement) || size > NOD
    ? [lacking(what, [acknowledgement], difference)]
    : [doubtful(what, [acknowledgement], difference)];
}

function besideCallback(acknowledgement: Leg, { callbacks }: CallEvidence): Observation {
  const size = bodySize(acknowledgement);
  if (carriesOutcome(acknowledgement))
    return doubtful('the acknowledgement has an outcome in its body, which no runtime reads', [
      acknowledgement,
    ]);
  if (size > 0) return heldBut('the acknowledgement has a body, which no runtime reads', [acknowledgement]);
  return held([acknowledgement, ...callbacks.slice(0, 1)]);
}
