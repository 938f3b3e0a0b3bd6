import { ACK_TOLERANCE_MS, CANCEL_GRACE_MS, isSentAfterCancel } from '../../events/exchange.js';
import type { RoundTrip } from '../../events/round-trips.js';
import { namedCredentialsIn } from '../../util/credentials.js';
import { formatDuration, longExcerpt } from '../../util/text.js';
import type { CallEvidence } from '../call.js';
import type { CallbackEvidence, ReceivedCallback } from '../callback-evidence.js';
import type { Evidence } from '../evidence.js';
import { firstCallbackAfter, messagesOf } from '../recorded-call.js';
import {
  defineRules,
  doubtful,
  inconclusive,
  met,
  metWithNote,
  type Observation,
  type Observed,
  requestSpot,
  unrecorded,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { faultLine, MAX_QUOTE_LENGTH, refusalDetails, timeoutAdvice } from '../rule-details.js';

/** The questions and subscriptions of a tool. */
export const questionRules = defineRules({
  'TOOL-CHOICE': {
    level: 'MUST',
    statement:
      'offers choices with a valid default and a response_url that answers 200; sends a tool_result after the selection',
    advice: 'Answer response_url with 200, and send a tool_result for every possible selection.',
    masks: ['TOOL-POST', 'TOOL-ALWAYS'],
    absent: 'no question was asked and answered',
    observe: evidence =>
      evidence.calls.map(call => [
        ...call.callbacks
          .filter(({ typeName }) => typeName === 'user_choice')
          .map(question => judgeInvalid(question, 'a user_choice')),
        ...call.selections.map(selection => judgeSelection(selection, call, evidence)),
      ]),
  },
  'TOOL-OAUTH': {
    level: 'MUST',
    statement:
      'sends an https auth_url, no token or code in a message, and a tool_result after consent or refusal',
    advice: 'Keep tokens and codes on your side, and send a tool_result after both consent and refusal.',
    masks: ['TOOL-POST', 'TOOL-ALWAYS', 'TOOL-SECRET'],
    absent: 'no call asked for a consent that was given or refused',
    observe: ({ calls }) =>
      calls.map(call => {
        const questions = call.callbacks.filter(({ typeName }) => typeName === 'oauth');
        const [first] = questions;
        return first ? [...questions.map(judgeOAuth), ...judgeTexts(call), judgeConsent(first, call)] : null;
      }),
  },
  'TOOL-SUB': {
    level: 'MUST',
    statement:
      'sends subscription: true before events, tool_call_id in each event, and nothing after final or a cancel',
    advice:
      'Send the result with subscription: true first, then events with its tool_call_id; stop at final or a cancel.',
    absent: 'no call started a subscription',
    observe: ({ calls, until, isNameOfOtherCall: isOthers }) =>
      calls.map(call => {
        const { invocation } = call;
        if (!invocation) return null;
        const isOwn = ({ message }: Update) => !isOthers('id', message.tool_call_id, invocation);
        const updates = messagesOf(call, 'subscription_event').filter(isOwn);
        return judgeSubscription(call, invocation.id, updates, until);
      }),
  },
});

function judgeInvalid(question: CallbackEvidence, what: string): Observed {
  const { reading } = question;
  if (!reading || reading.ok) return null;
  return violated(`${what} does not match its schema`, question, {
    faults: reading.faults.map(faultLine),
    advice: 'Repair the members that are named; protocol-cli help protocol shows the message.',
  });
}

const PENDING = 'when the transcript ended';

function judgeSelection(selection: RoundTrip, call: CallEvidence, evidence: Evidence): Observed {
  const { status, broken: error, request } = selection;
  const { canceledAtSeq, isInterrupted, timeout } = call;
  if (request.seq > canceledAtSeq) return null; // the question crossed the cancel, after which the tool may stay silent
  if (error)
    return (isInterrupted ? unrecorded : violated)(`response_url did not answer (${error.code})`, selection);
  if (status === null) return unrecorded(`response_url had not answered ${PENDING}`, selection);
  if (status !== 200)
    return violated(`response_url answered ${status}`, selection, refusalDetails(selection));
  const next = firstCallbackAfter(request.seq, call, 'tool_result', 'user_choice', 'oauth');
  if (next && next.request.seq < canceledAtSeq) return met([selection, next]);
  if (!timeout || canceledAtSeq < timeout.seq || isInterrupted)
    return unrecorded(`the call was still pending after the selection ${PENDING}`, selection);
  const window = formatDuration(timeout.afterMs);
  return violatedIfComplete(
    `no tool_result within ${window} of the selection${timeoutAdvice(call, evidence)}`,
    selection,
  );
}

/** Parameters that a URL has only after the consent. */
const CONSENT_RESULTS = /^(?:code|token|access_token|refresh_token|id_token|client_secret)$/;

function judgeOAuth(question: CallbackEvidence): Observed {
  const { message, reading } = question;
  if (!reading?.ok || message?.type !== 'oauth') return judgeInvalid(question, 'an oauth');
  const { protocol, search, hash } = new URL(message.auth_url);
  const names = [search, hash].flatMap(part => [...new URLSearchParams(part.slice(1)).keys()]);
  const secret = names.find(name => CONSENT_RESULTS.test(name));
  if (secret !== undefined)
    return violated(`auth_url contains ${secret}`, question, { spots: [requestSpot(question, 'auth_url')] });
  return protocol === 'http:' ? met(question, 'auth_url is http, fine on loopback') : null;
}

function judgeTexts({ received }: CallEvidence): readonly Observed[] {
  return received.map(({ callback }) => {
    const found = callback.texts.find(({ text }) => namedCredentialsIn(text).length > 0);
    return found ? violated(`a token or code is in ${found.place}`, callback) : null;
  });
}

/** The user may never have consented, so a missing result proves nothing. */
function judgeConsent(question: CallbackEvidence, call: CallEvidence): Observed {
  const result = firstCallbackAfter(question.request.seq, call, 'tool_result');
  if (result && result.request.seq < call.canceledAtSeq) return met([question, result]);
  if (call.timeout)
    return unrecorded(
      `no tool_result within ${formatDuration(call.timeout.afterMs)}: consent is missing`,
      question,
    );
  const isDecided = call.decisions.some(({ what }) => what === 'consent');
  return isDecided ? unrecorded(`the call was still pending ${PENDING}`, question) : null;
}

type Update = ReceivedCallback<'subscription_event'>;

function judgeSubscription(
  call: CallEvidence,
  id: string,
  updates: readonly Update[],
  until: number,
): readonly Observed[] {
  const results = messagesOf(call, 'tool_result');
  const start = results.find(({ message }) => message.subscription === true)?.callback;
  const cancel = call.cancels.find(({ status }) => status === 200);
  const last = updates.find(({ message }) => message.final === true)?.callback;
  const judged = updates.map(
    update =>
      judgeWrongUpdate(update, id, start, last) ??
      judgeUpdateAfterCancel(update, updates, cancel) ??
      (start ? judgeUpdateOrder(update, start) : null),
  );
  if (!start && hasUnreadableResult(call)) return []; // it may have been the start; TOOL-POST judges it
  if (!start) return [...judged, judgeMissingStart(call, updates, results[0]?.callback)];
  const observed = [
    ...judged,
    judgeSilenceAfterFinal(start, updates.at(-1), call),
    judgeSilenceAfterCancel(start, updates, cancel, until),
  ].filter(each => each !== null);
  return observed.length > 0
    ? observed
    : [inconclusive('a subscription was started, but no event came', start)];
}

function hasUnreadableResult({ callbacks }: CallEvidence): boolean {
  return callbacks.some(({ typeName, message }) => typeName === 'tool_result' && message === null);
}

/** @param last the first final event */
function judgeWrongUpdate(
  { callback, message: { tool_call_id: came } }: Update,
  id: string,
  start: CallbackEvidence | undefined,
  last: CallbackEvidence | undefined,
): Observation | null {
  if (came !== id) {
    const actual = longExcerpt(came, MAX_QUOTE_LENGTH);
    const details = {
      name: actual,
      expected: longExcerpt(id, MAX_QUOTE_LENGTH),
      actual,
      spots: [requestSpot(callback, 'tool_call_id')],
    };
    return violated('an event has another tool_call_id', callback, details);
  }
  if (!start) return violatedIfComplete('an event came without a result with subscription: true', callback);
  if (start.request.at - callback.request.at > ACK_TOLERANCE_MS)
    return violated('an event came before the result with subscription: true', [callback, start]);
  return last && callback.request.seq > last.request.seq && !callback.equals(last)
    ? violated('an event came after the final one', [last, callback])
    : null;
}

function judgeUpdateAfterCancel(
  { callback }: Update,
  updates: readonly Update[],
  cancel: RoundTrip | undefined,
): Observation | null {
  if (!cancel || !isAfterGrace(callback, cancel)) return null;
  const after = formatDuration(callback.request.at - cancel.latestAt);
  const answered = updates
    .map(update => update.callback)
    .filter(({ response, isFailed }) => response && !isFailed && response.seq < callback.request.seq)
    .map(({ request }) => request.at);
  const proof = [cancel, callback];
  return isSentAfterCancel(callback.request.at, cancel.latestAt, answered)
    ? violated(`an event came more than ${CANCEL_GRACE_MS}ms after the cancel was acknowledged`, proof, {
        expected: 'nothing after a cancel',
        actual: `after ${after}`,
      })
    : metWithNote(
        `an event came ${after} after the cancel was acknowledged, and may have been on its way`,
        proof,
      );
}

function isAfterGrace({ request }: RoundTrip, cancel: RoundTrip): boolean {
  return request.at > cancel.latestAt + CANCEL_GRACE_MS;
}

/** On separate connections, the first message may arrive second. */
function judgeUpdateOrder({ callback }: Update, start: CallbackEvidence): Observation {
  return start.request.seq > callback.request.seq
    ? doubtful('an event came just before the result with subscription: true', [callback, start])
    : met([start, callback]);
}

function judgeSilenceAfterFinal(
  start: CallbackEvidence,
  last: Update | undefined,
  { expiries }: CallEvidence,
): Observation | null {
  if (last?.message.final !== true) return null;
  const watch = expiries.find(({ what, seq }) => what === 'observation' && seq > last.callback.request.seq);
  if (!watch) return null;
  return met([start, last.callback], `nothing within ${formatDuration(watch.afterMs)} after the final event`);
}

function judgeSilenceAfterCancel(
  start: CallbackEvidence,
  updates: readonly Update[],
  cancel: RoundTrip | undefined,
  until: number,
): Observation | null {
  if (!cancel || updates.some(({ callback }) => isAfterGrace(callback, cancel))) return null;
  const watched = until - cancel.latestAt;
  if (watched <= CANCEL_GRACE_MS) return null;
  const what = `nothing from ${CANCEL_GRACE_MS}ms to ${formatDuration(watched)} after the cancel`;
  return met([start, cancel], what);
}

/** A call that was planned to start a subscription. */
function judgeMissingStart(
  { plans, ending }: CallEvidence,
  updates: readonly Update[],
  result: CallbackEvidence | undefined,
): Observation | null {
  const isPlanned = plans.some(({ checks = [] }) => checks.includes('TOOL-SUB'));
  if (!isPlanned || !result || updates.length > 0) return null;
  if (ending.kind === 'result' && ending.isError)
    return unrecorded('a call that should start a subscription ended in an error', result);
  return violated('a call that should start a subscription ended without subscription: true', result);
}
