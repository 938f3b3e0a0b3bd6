import { outcomeOfText } from '../../outcome/conventions.js';
import { excerpt } from '../../text/excerpt.js';
import { type ErrorText, errorTexts } from '../evidence/error-texts.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

const PREFIX = 'Error: ';

/** TOOL-ERRPREFIX: an error begins as the convention has it, and says something. */
export const prefixesErrors: Rule = {
  id: 'TOOL-ERRPREFIX',
  absent: 'no call ended in an error',
  observe: evidence => errorTexts(evidence).map(onError),
};

function onError({ text, callback, spot }: ErrorText): Observation {
  if (isToldOtherwise(text)) return held([callback]);
  const difference = { expected: `"${PREFIX}…"`, actual: excerpt(text), spots: [spot] };
  if (!text.startsWith(PREFIX))
    return broken('an error does not start with "Error: "', [callback], difference);
  return text.slice(PREFIX.length).trim() === ''
    ? broken('an error says nothing', [callback], difference)
    : held([callback]);
}

/** Other ends than an error have words of their own (seed 002). */
function isToldOtherwise(text: string): boolean {
  return ['canceled', 'timeout', 'denied'].includes(outcomeOfText(text).type);
}
