import { namedCredentialsIn } from '../../util/credentials.js';
import { formatDuration } from '../../util/text.js';
import type { CallbackEvidence, CallEvidence, RoundTrip } from '../call.js';
import { broken, defineRules, held, lacking, type Observation, sent, unseen } from '../rule.js';
import { raiseTimeout } from './delivery.js';
import { faultLines } from './discovery.js';
import { textsOf } from './texts.js';

export const questionRules = defineRules({
  'TOOL-CHOICE': {
    level: 'MUST',
    statement:
      'offers choices with a valid default and a response_url that answers 200; sends a tool_result after the selection',
    advice: 'Answer response_url with 200, and send a tool_result for every possible selection.',
    masks: ['TOOL-POST', 'TOOL-ALWAYS'],
    isOffered: true,
    absent: 'no question was asked and answered',
    observe: ({ calls }) =>
      calls.flatMap(call => [
        ...call.callbacks
          .filter(({ typeName }) => typeName === 'user_choice')
          .flatMap(question => onInvalid(question, 'a user_choice')),
        ...call.selections.map(selection => onSelection(selection, call)),
      ]),
  },
  'TOOL-OAUTH': {
    level: 'MUST',
    statement:
      'sends an https auth_url, no token or code in a message, and a tool_result after consent or refusal',
    advice: 'Keep tokens and codes on your side, and send a tool_result after both consent and refusal.',
    masks: ['TOOL-POST', 'TOOL-ALWAYS', 'TOOL-SECRET'],
    isOffered: true,
    absent: 'no call asked for a consent that was given or refused',
    observe: ({ calls }) =>
      calls.flatMap(call => {
        const questions = call.callbacks.filter(({ typeName }) => typeName === 'oauth');
        const [first] = questions;
        return first ? [...questions.flatMap(onOAuth), ...onTexts(call), ...onConsent(first, call)] : [];
      }),
  },
});

function onInvalid(question: CallbackEvidence, what: string): readonly Observation[] {
  const { reading } = question;
  if (!reading || reading.ok) return [];
  return [broken(`${what} does not match its schema`, question, { faults: faultLines(reading.faults) })];
}

function onSelection(selection: RoundTrip, call: CallEvidence): Observation {
  const { status, broken: error, request } = selection;
  const { calledOffAt, isCutShort, timeout } = call;
  if (error) return broken(`response_url did not answer (${error.code})`, selection);
  if (status === null) return unseen('response_url had not answered when the transcript ended', selection);
  if (status !== 200)
    return broken(`response_url answered ${status}`, selection, { expected: '200', actual: String(status) });
  const next = call.firstAfter(request.seq, 'tool_result', 'user_choice', 'oauth');
  if (next && next.request.seq < calledOffAt) return held([selection, next]);
  if (!timeout || calledOffAt < timeout.seq || isCutShort)
    return unseen('the call was still pending after the selection when the transcript ended', selection);
  const window = formatDuration(timeout.afterMs);
  return lacking(`no tool_result within ${window} of the selection: ${raiseTimeout(call)}`, selection);
}

/** Parameters that exist only after the consent. */
const CONSENT_RESULTS = /^(?:code|token|access_token|refresh_token|id_token|client_secret)$/;

function onOAuth(question: CallbackEvidence): readonly Observation[] {
  const { message, reading } = question;
  if (!reading?.ok || message?.type !== 'oauth') return onInvalid(question, 'an oauth');
  const { search, hash } = new URL(message.auth_url);
  const names = [search, hash].flatMap(part => [...new URLSearchParams(part.slice(1)).keys()]);
  const secret = names.find(name => CONSENT_RESULTS.test(name));
  if (secret !== undefined)
    return [broken(`auth_url contains ${secret}`, question, { spots: [sent(question, 'auth_url')] })];
  const isHttp = reading.warnings.some(({ id }) => id === 'TOOL-OAUTH');
  return isHttp ? [held(question, 'auth_url is http, fine on loopback')] : [];
}

function onTexts({ received }: CallEvidence): readonly Observation[] {
  return received.flatMap(({ callback }) => {
    const found = textsOf(callback).find(({ text }) => namedCredentialsIn(text).length > 0);
    return found ? [broken(`a token or code is in ${found.place}`, callback)] : [];
  });
}

/** The user may never have consented, so a missing result proves nothing. */
function onConsent(question: CallbackEvidence, call: CallEvidence): readonly Observation[] {
  const result = call.firstAfter(question.request.seq, 'tool_result');
  if (result && result.request.seq < call.calledOffAt) return [held([question, result])];
  if (call.timeout) {
    const window = formatDuration(call.timeout.afterMs);
    return [unseen(`no tool_result within ${window}: consent is missing`, question)];
  }
  return call.decisions.some(({ what }) => what === 'consent')
    ? [unseen('the call was still pending when the transcript ended', question)]
    : [];
}
