import { ACK_TOLERANCE_MS, CANCEL_GRACE_MS, isSentAfterCancel } from '../../events/exchange.js';
import { isBodyLost, type RoundTrip } from '../../events/round-trips.js';
import { NOTICES } from '../../protocol/invocation.js';
import { validate } from '../../protocol/validate.js';
import { namedCredentialsIn } from '../../util/credentials.js';
import { asksForCredentials } from '../../util/headers.js';
import { bytesText, formatDuration, longExcerpt, truncateBeforeToken } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import {
  type CallbackEvidence,
  type CallEvidence,
  type Discovery,
  type ReceivedCallback,
  toolsetsAt,
} from '../call.js';
import type { Evidence } from '../evidence.js';
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
import {
  CALLBACK_RULES,
  faultLine,
  MAX_QUOTE_LENGTH,
  nullRemark,
  refusalDetails,
  statusMismatch,
  timeoutAdvice,
  toolCrashObservation,
} from '../rule-details.js';

/** Maximum length of a quoted content type, in characters. */
const MAX_TYPE_LENGTH = 500;

/** Rules about calls: an operation of an invalid toolset must not be called (RT-TOOLSET). */
const CALL_RULES = ['TOOL-ACK', 'TOOL-ASYNC', 'TOOL-ALWAYS', ...CALLBACK_RULES, 'TOOL-MIGRATE'] as const;

const NAME_FAULT = /^\$\.tools\[\d+\]\.name: /;

/** The toolset, questions, subscriptions and notices. */
export const conversationRules = defineRules({
  'TOOL-DISCOVER': {
    level: 'MUST',
    statement: 'serves a valid toolset at the discovery URL',
    advice:
      'Serve the toolset as JSON at /.well-known/rap-toolset; validate it with protocol-cli toolset <url>.',
    masks: ['TOOL-NAMES', ...CALL_RULES],
    absent: 'no toolset was asked for',
    observe: ({ discoveries, isLive }) => {
      const found = discoveries.filter(({ status }) => status === 200);
      if (found.length > 0) return found.map(onDocument);
      return discoveries.length > 0 ? onNothing(discoveries, isLive) : null;
    },
  },
  'TOOL-NAMES': {
    level: 'MUST',
    statement: 'has valid and unique tool names',
    advice: 'Give each tool a unique name of 1 to 128 characters from A–Z a–z 0–9 _ -.',
    masks: ['TOOL-DISCOVER', ...CALL_RULES],
    absent: 'no toolset was found whose names could be judged',
    observe: ({ discoveries }) =>
      discoveries.map(discovery => {
        const { reading } = discovery;
        if (!reading) return null;
        const problems = reading.ok ? reading.notes : reading.faults;
        const faults = problems.filter(fault => NAME_FAULT.test(fault)).map(faultLine);
        if (faults.length === 0) return reading.ok ? met(discovery) : null;
        return reading.ok
          ? doubtful('clients may reject these tool names', discovery, { faults })
          : violated('tool names are invalid or not unique', discovery, { faults });
      }),
  },
  'TOOL-MIGRATE': {
    level: 'MUST',
    statement: 'serves /migrate if needsMigration is set, and answers 200 only on success',
    advice: 'Serve POST /migrate: 200 after the state has moved, else 4xx or 5xx; or remove needsMigration.',
    absent: 'the toolset needs no migration, or none was asked for',
    observe: ({ migrations, discoveries }) =>
      migrations
        .filter(({ request }) => toolsetsAt(discoveries, request.at).some(each => each.needsMigration))
        .map(onMigration),
  },
  'TOOL-RATE': {
    level: 'SHOULD',
    statement: 'limits the rate of invocations: 200 and an error result with the time to wait',
    advice:
      'Answer invocations over the limit with 200, then send an “Error: ” result with the time to wait.',
    invocationPage: 'Tools SHOULD rate-limit invocations to prevent abuse',
    unobservable: 'not tested (needs load)',
  },
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
          .map(question => onInvalid(question, 'a user_choice')),
        ...call.selections.map(selection => onSelection(selection, call, evidence)),
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
        return first ? [...questions.map(onOAuth), ...onTexts(call), onConsent(first, call)] : null;
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
        const updates = call.messages('subscription_event').filter(isOwn);
        return onSubscription(call, invocation.id, updates, until);
      }),
  },
  'TOOL-CANCEL': {
    level: 'SHOULD',
    statement: 'always answers /cancel_tool_call with 200; never crashes on it',
    advice:
      'Answer POST /cancel_tool_call with 200 for every id, known or not, and catch errors of the handler.',
    failsWhere: 'the tool crashes',
    absent: 'no call was canceled',
    observe: evidence => onNotices(evidence.cancels, '/cancel_tool_call', evidence),
  },
  'TOOL-CLOSE': {
    level: 'SHOULD',
    statement: 'always answers /close_thread with 200 and an empty body; never crashes on it',
    advice:
      'Answer POST /close_thread with 200 for every thread_id, known or not, and catch errors of the handler.',
    failsWhere: 'the tool crashes',
    absent: 'no thread was closed',
    observe: evidence => onNotices(evidence.closes, '/close_thread', evidence),
  },
});

function onDocument(discovery: Discovery): Observation {
  const { reading, response } = discovery;
  if (!reading)
    return response && isBodyLost(response)
      ? unrecorded('the document was not recorded', discovery)
      : violated('discovery answered 200 without a document', discovery, { expected: '200, and a toolset' });
  if (!reading.ok) {
    const faults = reading.faults.filter(fault => !NAME_FAULT.test(fault)).map(faultLine);
    return faults.length > 0
      ? violated('invalid toolset', discovery, { faults })
      : met(discovery, 'valid except for its names');
  }
  const type = response?.headers['content-type'] ?? 'none';
  const isJson = /^application\/(?:[\w.+-]+\+)?json\b/i.test(type);
  const remarks = [
    ...reading.notes.filter(note => !NAME_FAULT.test(note)),
    ...nullRemark(reading.nulls, 'toolset'),
    ...(isJson ? [] : [`its content type is ${truncateBeforeToken(type, MAX_TYPE_LENGTH)}`]),
  ];
  return remarks.length > 0 ? doubtful(visibleLine(remarks.join('; ')), discovery) : met(discovery);
}

/** Whether the toolset was requested at the base URL and at its origin, and found at neither. */
function onNothing(discoveries: readonly Discovery[], isLive: boolean): Observation {
  const statuses = new Set(discoveries.flatMap(({ status }) => status ?? []));
  const isLocked = ({ response }: Discovery) =>
    response !== null && asksForCredentials(response.status, response.headers);
  if (discoveries.some(isLocked))
    return unrecorded(`discovery requires credentials${isLive ? ' (--bearer, --header)' : ''}`, discoveries);
  const forbidden = discoveries.find(({ status }) => status === 403);
  if (forbidden) return unrecorded('discovery answered 403', discoveries, refusalDetails(forbidden));
  const actual = [...statuses].join(', ');
  if (actual !== '')
    return violatedIfComplete(`discovery answered ${actual}`, discoveries, {
      expected: '200, and a toolset',
      actual,
    });
  if (discoveries.every(({ failure }) => failure === 'aborted'))
    return unrecorded('the request for the toolset was canceled before an answer came', discoveries);
  const codes = new Set(discoveries.flatMap(({ broken: error }) => error?.code ?? []));
  return codes.size === 0
    ? unrecorded('the answer to the request for the toolset was not recorded', discoveries)
    : unrecorded(`the tool could not be reached (${[...codes].join(', ')})`, discoveries);
}

function onMigration(migration: RoundTrip): Observation {
  const { status, request, sentJson } = migration;
  if (status === null) return unrecorded('/migrate did not answer', migration);
  if (status === 405 || (status === 404 && !explainsRefusal(migration)))
    return violated(`/migrate is missing: it answered ${status}`, migration);
  const isInvalid = !isBodyLost(request) && !validate(NOTICES.migrate.body, sentJson).ok;
  return status < 300 && isInvalid
    ? violated(
        `/migrate answered ${status} to an invalid request`,
        migration,
        statusMismatch(migration, '4xx or 5xx'),
      )
    : met(migration, `/migrate answered ${status}`);
}

/** Whether a 404 names the unknown session; the default 404 page of a server does not. */
function explainsRefusal({ response }: RoundTrip): boolean {
  const text = Buffer.from(response?.body?.bytes.subarray(0, 4_096) ?? []).toString('utf8');
  return /session|destination|migration|thread/i.test(text);
}

function onInvalid(question: CallbackEvidence, what: string): Observed {
  const { reading } = question;
  if (!reading || reading.ok) return null;
  return violated(`${what} does not match its schema`, question, { faults: reading.faults.map(faultLine) });
}

const PENDING = 'when the transcript ended';

function onSelection(selection: RoundTrip, call: CallEvidence, evidence: Evidence): Observation {
  const { status, broken: error, request } = selection;
  const { canceledAtSeq: calledOffAt, isCutShort, timeout } = call;
  if (error)
    return (isCutShort ? unrecorded : violated)(`response_url did not answer (${error.code})`, selection);
  if (status === null) return unrecorded(`response_url had not answered ${PENDING}`, selection);
  if (status !== 200)
    return violated(`response_url answered ${status}`, selection, refusalDetails(selection));
  const next = call.firstAfter(request.seq, 'tool_result', 'user_choice', 'oauth');
  if (next && next.request.seq < calledOffAt) return met([selection, next]);
  if (!timeout || calledOffAt < timeout.seq || isCutShort)
    return unrecorded(`the call was still pending after the selection ${PENDING}`, selection);
  const window = formatDuration(timeout.afterMs);
  return violatedIfComplete(
    `no tool_result within ${window} of the selection${timeoutAdvice(call, evidence)}`,
    selection,
  );
}

/** Parameters that a URL has only after the consent. */
const CONSENT_RESULTS = /^(?:code|token|access_token|refresh_token|id_token|client_secret)$/;

function onOAuth(question: CallbackEvidence): Observed {
  const { message, reading } = question;
  if (!reading?.ok || message?.type !== 'oauth') return onInvalid(question, 'an oauth');
  const { protocol, search, hash } = new URL(message.auth_url);
  const names = [search, hash].flatMap(part => [...new URLSearchParams(part.slice(1)).keys()]);
  const secret = names.find(name => CONSENT_RESULTS.test(name));
  if (secret !== undefined)
    return violated(`auth_url contains ${secret}`, question, { spots: [requestSpot(question, 'auth_url')] });
  return protocol === 'http:' ? met(question, 'auth_url is http, fine on loopback') : null;
}

function onTexts({ received }: CallEvidence): readonly Observed[] {
  return received.map(({ callback }) => {
    const found = callback.texts.find(({ text }) => namedCredentialsIn(text).length > 0);
    return found ? violated(`a token or code is in ${found.place}`, callback) : null;
  });
}

/** The user may never have consented, so a missing result proves nothing. */
function onConsent(question: CallbackEvidence, call: CallEvidence): Observed {
  const result = call.firstAfter(question.request.seq, 'tool_result');
  if (result && result.request.seq < call.canceledAtSeq) return met([question, result]);
  if (call.timeout)
    return unrecorded(
      `no tool_result within ${formatDuration(call.timeout.afterMs)}: consent is missing`,
      question,
    );
  const isDecided = call.decisions.some(({ what }) => what === 'consent');
  return isDecided ? unrecorded(`the call was still pending ${PENDING}`, question) : null;
}

function onNotices(notices: readonly RoundTrip[], path: string, evidence: Evidence): Observed {
  const { message: cause, exit = null } = evidence.toolCrash ?? {};
  const isCut = ({ status, failure }: RoundTrip) =>
    exit !== null && status === null && failure !== 'timed-out';
  const others = notices.filter(notice => notice !== cause && !isCut(notice));
  return [
    cause && notices.includes(cause) ? toolCrashObservation(evidence, 'notice', path) : null,
    others.map(notice => onNotice(notice, path)),
  ];
}

function onNotice(notice: RoundTrip, path: string): Observation {
  const { status, broken: error, response, responseSize } = notice;
  if (status === 200) {
    if (responseSize === 0) return met(notice);
    const length = response?.headers['content-length'];
    const actual = length === undefined ? 'a body' : `a body of ${bytesText(Number(length))}`;
    const advice = `Answer POST ${path} with 200 and an empty body.`;
    return violated(`${path} answered 200 with ${actual}`, notice, {
      expected: 'an empty body',
      actual,
      advice,
    });
  }
  if (status !== null) return violated(`${path} answered ${status}`, notice, refusalDetails(notice));
  if (!error) return unrecorded(`the answer to ${path} was not recorded`, notice);
  if (notice.isUnsent) return unrecorded(`${path} could not be reached (${error.code})`, notice);
  const how =
    error.code === 'ETIMEDOUT' ? `within ${formatDuration(error.at - notice.request.at)}` : `(${error.code})`;
  return violated(`${path} did not answer ${how}`, notice, { expected: '200' });
}

type Update = ReceivedCallback<'subscription_event'>;

function onSubscription(
  call: CallEvidence,
  id: string,
  updates: readonly Update[],
  until: number,
): readonly Observed[] {
  const results = call.messages('tool_result');
  const start = results.find(({ message }) => message.subscription === true)?.callback;
  const cancel = call.cancels.find(({ status }) => status === 200);
  const last = updates.find(({ message }) => message.final === true)?.callback;
  const judged = updates.map(
    update =>
      onWrongUpdate(update, id, start, last) ??
      onUpdateAfterCancel(update, updates, cancel) ??
      (start ? onUpdateOrder(update, start) : null),
  );
  if (!start) return [...judged, onMissingStart(call, updates, results[0]?.callback)];
  const observed = [
    ...judged,
    onSilenceAfterFinal(start, updates.at(-1), call),
    onSilenceAfterCancel(start, updates, cancel, until),
  ].filter(each => each !== null);
  return observed.length > 0
    ? observed
    : [inconclusive('a subscription was started, but no event came', start)];
}

/** @param last the first final event */
function onWrongUpdate(
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

function onUpdateAfterCancel(
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
function onUpdateOrder({ callback }: Update, start: CallbackEvidence): Observation {
  return start.request.seq > callback.request.seq
    ? doubtful('an event came just before the result with subscription: true', [callback, start])
    : met([start, callback]);
}

function onSilenceAfterFinal(
  start: CallbackEvidence,
  last: Update | undefined,
  { expiries }: CallEvidence,
): Observation | null {
  if (last?.message.final !== true) return null;
  const watch = expiries.find(({ what, seq }) => what === 'observation' && seq > last.callback.request.seq);
  if (!watch) return null;
  return met([start, last.callback], `nothing within ${formatDuration(watch.afterMs)} after the final event`);
}

function onSilenceAfterCancel(
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
function onMissingStart(
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
