import { formatDuration } from '../../text/format-duration.js';
import { calledOffAt } from '../evidence/called-off.js';
import type { CallbackEvidence, CallEvidence } from '../evidence/evidence.js';
import { type Leg, statusOf } from '../evidence/leg.js';
import { firstToldAfter, typeIn } from '../evidence/messages.js';
import { vainWait } from '../evidence/windows.js';
import { broken, held, lacking, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { withFaults } from './shared/faults.js';
import { ifItTakesLonger } from './shared/window.js';

/** TOOL-CHOICE: a question that can be answered, and what follows from the answer. */
export const offersChoices: Rule = {
  id: 'TOOL-CHOICE',
  masks: ['TOOL-POST', 'TOOL-ALWAYS'],
  isOffered: true,
  absent: 'no question was put that was answered',
  observe: ({ calls }) =>
    calls.flatMap(call => [
      ...call.callbacks.filter(isChoice).flatMap(onQuestion),
      ...call.selections.map(selection => onSelection(selection, call)),
    ]),
};

function isChoice(callback: CallbackEvidence): boolean {
  return typeIn(callback) === 'user_choice';
}

function onQuestion(question: CallbackEvidence): readonly Observation[] {
  const { reading } = question;
  if (!reading || reading.ok) return [];
  return [broken('a user_choice breaks its schema', [question], withFaults(reading.faults))];
}

function onSelection(selection: Leg, call: CallEvidence): Observation {
  const status = statusOf(selection);
  if (selection.broken) return broken(`response_url did not answer (${selection.broken.code})`, [selection]);
  if (status === null) return unseen('response_url had not answered when the transcript ended', [selection]);
  if (status !== 200)
    return broken(`response_url answered ${status}`, [selection], {
      expected: '200',
      actual: String(status),
    });
  return afterwards(selection, call);
}

/** A result, or the next question; what comes once nobody wants it any more follows from that. */
function afterwards(selection: Leg, call: CallEvidence): Observation {
  const end = calledOffAt(call);
  const next = firstToldAfter(selection.request.seq, call, ({ type }) =>
    ['tool_result', 'user_choice', 'oauth'].includes(type),
  );
  if (next && next.callback.request.seq < end) return held([selection, next.callback]);
  const wait = vainWait(call);
  if (!wait || end < wait.seq || call.isCutShort)
    return unseen('the call was still pending after the selection when the transcript ended', [selection]);
  const window = formatDuration(wait.afterMs);
  return lacking(`no tool_result within ${window} of the selection: ${ifItTakesLonger(call)}`, [selection]);
}
