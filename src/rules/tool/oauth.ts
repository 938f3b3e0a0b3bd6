import { namedCredentialsIn } from '../../text/credentials.js';
import { formatDuration } from '../../text/format-duration.js';
import { calledOffAt } from '../evidence/called-off.js';
import type { CallbackEvidence, CallEvidence } from '../evidence/evidence.js';
import { told, toldAs, typeIn } from '../evidence/messages.js';
import { textsOf } from '../evidence/texts.js';
import { vainWait } from '../evidence/windows.js';
import { broken, held, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { sent } from '../spot.js';
import { withFaults } from './shared/faults.js';

/** What a page gives after consent, and nobody may have before it; `state` and `client_id` belong there. */
const GIVEN_AFTERWARDS = new Set([
  'code',
  'token',
  'access_token',
  'refresh_token',
  'id_token',
  'client_secret',
]);

/** TOOL-OAUTH: a safe page to visit, nothing of what it gives in a message, and a result in the end. */
export const asksForConsent: Rule = {
  id: 'TOOL-OAUTH',
  masks: ['TOOL-POST', 'TOOL-ALWAYS', 'TOOL-SECRET'],
  isOffered: true,
  absent: 'no call asked for a consent that was given or refused',
  observe: ({ calls }) => calls.filter(({ callbacks }) => callbacks.some(isOAuth)).flatMap(onCall),
};

function isOAuth(callback: CallbackEvidence): boolean {
  return typeIn(callback) === 'oauth';
}

function onCall(call: CallEvidence): readonly Observation[] {
  const questions = call.callbacks.filter(isOAuth);
  return [
    ...questions.flatMap(onQuestion),
    ...told(call).flatMap(({ callback }) => onTexts(callback)),
    ...onEnd(call),
  ];
}

function onQuestion(question: CallbackEvidence): readonly Observation[] {
  const { reading } = question;
  if (!reading) return [];
  if (!reading.ok) return [broken('an oauth breaks its schema', [question], withFaults(reading.faults))];
  const { message, warnings } = reading;
  const given = message.type === 'oauth' ? givenIn(message.auth_url) : undefined;
  if (given !== undefined)
    return [broken(`auth_url has a ${given} in it`, [question], { spots: [sent(question, 'auth_url')] })];
  const remark = warnings.find(({ id }) => id === 'TOOL-OAUTH');
  return remark ? [held([question], 'auth_url is http, fine on loopback')] : [];
}

function givenIn(address: string): string | undefined {
  const { search, hash } = new URL(address);
  const names = [search.slice(1), hash.slice(1)].flatMap(part => [...new URLSearchParams(part).keys()]);
  return names.find(name => GIVEN_AFTERWARDS.has(name));
}

function onTexts(callback: CallbackEvidence): readonly Observation[] {
  const found = textsOf(callback).find(({ text }) => namedCredentialsIn(text).length > 0);
  return found ? [broken(`a token or code stands in ${found.place}`, [callback])] : [];
}

/**
 * Nobody may ever have consented: only where somebody did, or the call was waited for, was there an end to see. What comes once nobody
 * wants it any more follows from that.
 */
function onEnd(call: CallEvidence): readonly Observation[] {
  const question = call.callbacks.find(isOAuth);
  if (!question) return [];
  const end = calledOffAt(call);
  const result = toldAs(call, 'tool_result').find(
    ({ callback: { request } }) => request.seq > question.request.seq && request.seq < end,
  );
  if (result) return [held([question, result.callback])];
  const wait = vainWait(call);
  if (wait)
    return [unseen(`no tool_result within ${formatDuration(wait.afterMs)}: who consents?`, [question])];
  const isDecided = call.decisions.some(({ what }) => what === 'consent');
  return isDecided ? [unseen('the call was still pending when the transcript ended', [question])] : [];
}
