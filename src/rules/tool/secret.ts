import type { CallEvidence } from '../evidence/evidence.js';
import { type Told, told } from '../evidence/messages.js';
import { secretFinder } from '../evidence/secrets.js';
import { textsOf } from '../evidence/texts.js';
import { broken, held, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';

/** TOOL-SECRET: no message holds what the call was secured with, nor what looks like a credential. The secret is never repeated. */
export const tellsNoSecret: Rule = {
  id: 'TOOL-SECRET',
  absent: 'no callback came that could be read',
  observe: ({ calls }) => calls.flatMap(onCall),
};

function onCall(call: CallEvidence): readonly Observation[] {
  const messages = told(call);
  if (messages.length === 0) return [];
  const secretIn = secretFinder(call);
  return messages.map(each => onMessage(each, secretIn));
}

function onMessage(each: Told, secretIn: (text: string) => string | null): Observation {
  for (const { place, text } of textsOf(each.callback)) {
    const secret = secretIn(text);
    if (secret !== null)
      return broken(`${secret} stands in ${place} of a ${each.message.type}`, [each.callback]);
  }
  return held([each.callback]);
}
