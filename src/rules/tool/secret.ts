import { addresseeIn } from '../../protocol/read-invocation.js';
import { REDACTED } from '../../text/redact.js';
import type { CallEvidence } from '../evidence/evidence.js';
import { type Told, told } from '../evidence/messages.js';
import { secretFinder } from '../evidence/secrets.js';
import { textsOf } from '../evidence/texts.js';
import { broken, doubtful, held, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { sent } from '../spot.js';

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
  return messages.map(each => onMessage(each, secretIn) ?? onRedacted(each, call) ?? held([each.callback]));
}

type SecretFinder = ReturnType<typeof secretFinder>;

function onMessage(each: Told, secretIn: SecretFinder): Observation | null {
  for (const { place, path, text } of textsOf(each.callback)) {
    const secret = secretIn(text);
    if (secret !== null)
      return broken(`${secret.what} stands in ${place} of a ${each.message.type}`, [each.callback], {
        spots: [{ ...sent(each.callback, ...path), range: secret.range }],
      });
  }
  return null;
}

/** It may have been a secret; where nothing else was redacted, the tool itself may have written so. */
function onRedacted({ callback, message }: Told, { reading }: CallEvidence): Observation | null {
  const found = textsOf(callback).find(({ text }) => text.includes(REDACTED));
  if (!found) return null;
  const isRedacted = addresseeIn(reading)?.callback_url.includes(REDACTED) === true;
  const tell = isRedacted ? unseen : doubtful;
  return tell(`something that was redacted stands in ${found.place} of a ${message.type}`, [callback]);
}
