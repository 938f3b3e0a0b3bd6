import { outcomeOfText } from '../../outcome/conventions.js';
import { type Ending, endingOf } from '../evidence/ending.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { type Told, told } from '../evidence/messages.js';
import { nameless, type SoundResults, soundResults } from '../evidence/sound-results.js';
import { unacceptable } from '../evidence/unacceptable.js';
import { broken, doubtful, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';
import { spotsOf } from './shared/refusals.js';

const STORIES = {
  'unknown-operation': 'an unknown operation',
  'bad-arguments': 'a call whose arguments break its inputSchema',
} as const;

/** TOOL-VALIDATE: what must not be executed is not. Whether it is told so, and how, is of TOOL-UNKNOWN-OP and TOOL-BAD-ARGS. */
export const executesOnlyValidCalls: Rule = {
  id: 'TOOL-VALIDATE',
  masks: ['TOOL-UNKNOWN-OP', 'TOOL-BAD-ARGS'],
  absent: 'no call with an unknown operation or with broken arguments was made',
  observe: evidence => onUnacceptable(evidence),
};

function onUnacceptable(evidence: Evidence): readonly Observation[] {
  const sound = soundResults(evidence);
  return evidence.calls.flatMap(call => {
    const why = unacceptable(call, evidence);
    return why === null || why === 'malformed' ? [] : onCall(call, STORIES[why], sound);
  });
}

function onCall(call: CallEvidence, story: string, sound: SoundResults): readonly Observation[] {
  const ending = endingOf(call);
  const work = told(call).find(({ message }) => message.type !== 'tool_result');
  if (work) return [onWork(work, ending, story)];
  if (ending.kind === 'refused') return [held([ending.attempt])];
  if (ending.kind !== 'result') return [];
  return [ending.isError ? held([ending.callback]) : onResult(ending, call, story, sound)];
}

/** An error in the end may be that of a look at it that began too early. */
function onWork({ message, callback }: Told, ending: Ending, story: string): Observation {
  const what = `${story} was begun: a ${message.type} came`;
  const isError = ending.kind === 'result' && outcomeOfText(ending.text).type !== 'success';
  return isError ? doubtful(`${what}, and an error in the end`, [callback]) : broken(what, [callback]);
}

/** A refusal may be in any words, and any language: what is sure is the result of a valid call. */
function onResult(
  { callback, text }: Extract<Ending, { kind: 'result' }>,
  call: CallEvidence,
  story: string,
  sound: SoundResults,
): Observation {
  const proof = [...call.attempts, callback];
  const spots = spotsOf(call, callback);
  const difference = { expected: 'an error result', actual: 'a result that is no error', spots };
  const what = 'it ended in a result that is no error';
  return sound(call).has(nameless(text, call))
    ? broken(`${story} was executed: ${what}, but that of a valid call`, proof, difference)
    : doubtful(`${story} may have been executed: ${what} by its words`, proof, difference);
}
