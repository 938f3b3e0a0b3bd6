import { ACK_TOLERANCE_MS } from '../../events/exchange.js';
import type { Invocation } from '../../protocol/read-invocation.js';
import { bytesText, excerpt, formatDuration } from '../../util/text.js';
import type { CallbackEvidence, CallEvidence, Received, RoundTrip } from '../call.js';
import { type Evidence, indexNames } from '../evidence.js';
import {
  broken,
  crash,
  defineRules,
  doubtful,
  held,
  heldBut,
  lacking,
  type Observation,
  scant,
  sent,
  unseen,
} from '../rule.js';

export const noticeRules = defineRules({
  'TOOL-SUB': {
    level: 'MUST',
    statement:
      'sends subscription: true before events, tool_call_id in each event, and nothing after final or a cancel',
    advice:
      'Send the result with subscription: true first, then events with its tool_call_id; stop at final or a cancel.',
    isOffered: true,
    absent: 'no call started a subscription',
    observe: ({ calls, until }) => {
      const isOthers = indexNames(calls);
      return calls.flatMap(call => {
        const { invocation } = call;
        if (!invocation) return [];
        const updates = call
          .messages('subscription_event')
          .filter(({ message }) => !isOthers('id', message.tool_call_id, invocation));
        return onSubscription(call, invocation, updates, until);
      });
    },
  },
  'TOOL-CANCEL': {
    level: 'SHOULD',
    statement: 'always answers /cancel_tool_call with 200; never crashes on it',
    advice: 'Answer POST /cancel_tool_call with 200 for every id; never use an id as a path.',
    failsWhere: 'the tool crashes',
    absent: 'no call was canceled',
    observe: evidence => onNotices(evidence.cancels, '/cancel_tool_call', evidence),
  },
  'TOOL-CLOSE': {
    level: 'SHOULD',
    statement: 'always answers /close_thread with 200 and an empty body; never crashes on it',
    advice: 'Answer POST /close_thread with 200 and no body for every thread_id; not with 204 or 404.',
    failsWhere: 'the tool crashes',
    absent: 'no thread was closed',
    observe: evidence => onNotices(evidence.closes, '/close_thread', evidence),
  },
});

function onNotices(notices: readonly RoundTrip[], path: string, evidence: Evidence): readonly Observation[] {
  const cause = evidence.death?.message;
  const end = cause && notices.includes(cause) ? crash(evidence, 'notice', path) : null;
  return [
    ...(end ? [end] : []),
    ...notices.filter(notice => notice !== cause).map(notice => onNotice(notice, path)),
  ];
}

function onNotice(notice: RoundTrip, path: string): Observation {
  const { status, broken: error, response, responseSize } = notice;
  if (status === 200) {
    if (responseSize === 0) return held(notice);
    const length = response?.headers['content-length'];
    const actual = length === undefined ? 'a body' : `a body of ${bytesText(Number(length))}`;
    return broken(`${path} answered 200 with ${actual}`, notice, { expected: 'an empty body', actual });
  }
  if (status !== null)
    return broken(`${path} answered ${status}`, notice, { expected: '200', actual: String(status) });
  if (!error || notice.isUnsent)
    return unseen(`${path} could not be reached${error ? ` (${error.code})` : ''}`, notice);
  const how =
    error.code === 'ETIMEDOUT' ? `within ${formatDuration(error.at - notice.request.at)}` : `(${error.code})`;
  return broken(`${path} did not answer ${how}`, notice, { expected: '200' });
}

type Update = Received<'subscription_event'>;

function onSubscription(
  call: CallEvidence,
  invocation: Invocation,
  updates: readonly Update[],
  until: number,
): readonly Observation[] {
  const results = call.messages('tool_result');
  const start = results.find(({ message }) => message.subscription === true)?.callback;
  const cancel = call.cancels.find(({ status }) => status === 200);
  const judged = updates.map(
    update =>
      onUpdate(update, start, invocation) ??
      onUpdateAfterFinal(update, updates) ??
      onUpdateAfterCancel(update, updates, cancel) ??
      onUpdateOrder(update, start),
  );
  if (!start) return [...judged, ...onMissingStart(call, updates, results[0]?.callback)];
  const observed = [
    ...judged,
    ...onSilenceAfterFinal(start, updates, call),
    ...onSilenceAfterCancel(start, updates, cancel, until),
  ];
  return observed.length > 0 ? observed : [scant('a subscription was started, but no event came', start)];
}

function onUpdate(
  { callback, message }: Update,
  start: CallbackEvidence | undefined,
  { id }: Invocation,
): Observation | null {
  const { tool_call_id: came } = message;
  if (came !== id)
    return broken('an event has another tool_call_id', callback, {
      name: excerpt(came),
      expected: excerpt(id),
      actual: excerpt(came),
      spots: [sent(callback, 'tool_call_id')],
    });
  if (!start) return lacking('an event came without a result with subscription: true', callback);
  return start.request.at - callback.request.at > ACK_TOLERANCE_MS
    ? broken('an event came before the result with subscription: true', [callback, start])
    : null;
}

function onUpdateAfterFinal({ callback }: Update, updates: readonly Update[]): Observation | null {
  const last = updates.find(({ message }) => message.final === true)?.callback;
  const isLater = last !== undefined && callback.request.seq > last.request.seq && !callback.equals(last);
  return isLater ? broken('an event came after the final one', [last, callback]) : null;
}

/** An event that the tool sent before it got the cancel may still come, in ms. */
const GRACE_MS = 500;

/** On a busy machine one event may take longer; a tool that sends another one ignores the cancel. */
function onUpdateAfterCancel(
  { callback }: Update,
  updates: readonly Update[],
  cancel: RoundTrip | undefined,
): Observation | null {
  if (!cancel || !isAfterGrace(callback, cancel)) return null;
  const after = formatDuration(callback.request.at - cancel.latestAt);
  const isRepeated = updates.some(
    ({ callback: { request, response, isFailed } }) =>
      request.at > cancel.latestAt && response && !isFailed && response.seq < callback.request.seq,
  );
  return isRepeated
    ? broken(`an event came more than ${GRACE_MS}ms after the cancel was acknowledged`, [cancel, callback], {
        expected: 'nothing after a cancel',
        actual: `after ${after}`,
      })
    : heldBut(`an event came ${after} after the cancel was acknowledged, and may have been on its way`, [
        cancel,
        callback,
      ]);
}

function isAfterGrace({ request }: RoundTrip, cancel: RoundTrip): boolean {
  return request.at > cancel.latestAt + GRACE_MS;
}

/** On separate connections, the first message may arrive second. */
function onUpdateOrder({ callback }: Update, start: CallbackEvidence | undefined): Observation {
  if (!start) return held(callback);
  return start.request.seq > callback.request.seq
    ? doubtful('an event came just before the result with subscription: true', [callback, start])
    : held([start, callback]);
}

function onSilenceAfterFinal(
  start: CallbackEvidence,
  updates: readonly Update[],
  { expiries }: CallEvidence,
): readonly Observation[] {
  const last = updates.at(-1);
  if (last?.message.final !== true) return [];
  const watch = expiries.find(({ what, seq }) => what === 'observation' && seq > last.callback.request.seq);
  if (!watch) return [];
  const what = `nothing within ${formatDuration(watch.afterMs)} after the final event`;
  return [held([start, last.callback], what)];
}

function onSilenceAfterCancel(
  start: CallbackEvidence,
  updates: readonly Update[],
  cancel: RoundTrip | undefined,
  until: number,
): readonly Observation[] {
  if (!cancel || updates.some(({ callback }) => isAfterGrace(callback, cancel))) return [];
  const watched = until - cancel.latestAt;
  if (watched <= GRACE_MS) return [];
  const what = `nothing from ${GRACE_MS}ms to ${formatDuration(watched)} after the cancel`;
  return [held([start, cancel], what)];
}

/** A call that was planned to start a subscription. */
function onMissingStart(
  { plans }: CallEvidence,
  updates: readonly Update[],
  result: CallbackEvidence | undefined,
): readonly Observation[] {
  const isPlanned = plans.some(({ checks = [] }) => checks.includes('TOOL-SUB'));
  if (!isPlanned || !result || updates.length > 0) return [];
  return [broken('a call that should start a subscription ended without subscription: true', result)];
}
