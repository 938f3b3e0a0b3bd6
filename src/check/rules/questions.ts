import { namedCredentialsIn } from '../../util/credentials.js';
import { formatDuration } from '../../util/format-duration.js';
import {
  type CallbackEvidence,
  type CallEvidence,
  firstToldAfter,
  type Leg,
  statusOf,
  told,
  toldAs,
  typeIn,
  vainWait,
} from '../evidence.js';
import { calledOffAt, textsOf } from '../evidence-queries.js';
import { broken, held, lacking, type Observation, type Rule, sent, unseen } from '../judge.js';
import { ifItTakesLonger } from './delivery.js';
import { withFaults } from './discovery.js';

/** TOOL-CHOICE: a question that can be answered, and what follows from the answer. */
export const offersChoices: Rule = {
  id: 'TOOL-CHOICE',
  masks: ['TOOL-POST', 'TOOL-ALWAYS'],
  isOffered: true,
  absent: 'no question was asked and answered',
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
  return [broken('a user_choice does not match its schema', [question], withFaults(reading.faults))];
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

/** Expects a result or the next question, before the call is canceled. */
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

/** Parameters that exist only after consent; `state` and `client_id` are allowed. */
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
    ...questions.flatMap(oauthOnQuestion),
    ...told(call).flatMap(({ callback }) => onTexts(callback)),
    ...onEnd(call),
  ];
}

function oauthOnQuestion(question: CallbackEvidence): readonly Observation[] {
  const { reading } = question;
  if (!reading) return [];
  if (!reading.ok)
    return [broken('an oauth does not match its schema', [question], withFaults(reading.faults))];
  const { message, warnings } = reading;
  const given = message.type === 'oauth' ? givenIn(message.auth_url) : undefined;
  if (given !== undefined)
    return [broken(`auth_url contains ${given}`, [question], { spots: [sent(question, 'auth_url')] })];
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
  return found ? [broken(`a token or code is in ${found.place}`, [callback])] : [];
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
    return [unseen(`no tool_result within ${formatDuration(wait.afterMs)}: consent is missing`, [question])];
  const isDecided = call.decisions.some(({ what }) => what === 'consent');
  return isDecided ? [unseen('the call was still pending when the transcript ended', [question])] : [];
}
