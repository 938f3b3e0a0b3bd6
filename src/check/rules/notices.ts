import { ACK_TOLERANCE_MS } from '../../events/exchange.js';
import type { Invocation } from '../../protocol/read-invocation.js';
import { excerpt } from '../../util/excerpt.js';
import { formatDuration } from '../../util/format-duration.js';
import { bytesText } from '../../util/json-diagnosis.js';
import {
  type CallEvidence,
  type Evidence,
  endedAt,
  isFailedForNow,
  type Leg,
  saysTheSame,
  statusOf,
  type Told,
  toldAs,
  watchedSince,
} from '../evidence.js';
import { type Names, namesOf, onDeath } from '../evidence-queries.js';
import {
  broken,
  doubtful,
  held,
  heldBut,
  lacking,
  type Observation,
  type Rule,
  scant,
  sent,
  unseen,
} from '../judge.js';
import { bodySize } from './acknowledgement.js';

/** Notices that went to `path`: 200 with an empty body, whatever they name; and the tool lives on. */
function onNotices(notices: readonly Leg[], path: string, evidence: Evidence): readonly Observation[] {
  const { death } = evidence;
  const end = death && notices.includes(death.message) ? onDeath(evidence, 'notice', path) : null;
  const others = notices.filter(notice => notice !== death?.message);
  return [...(end ? [end] : []), ...others.map(notice => noticeFault(notice, path) ?? onTaken(notice, path))];
}

function onTaken(notice: Leg, path: string): Observation {
  if (bodySize(notice) === 0) return held([notice]);
  const announced = notice.response?.headers['content-length'];
  const actual = announced === undefined ? 'a body' : `a body of ${bytesText(Number(announced))}`;
  return broken(`${path} answered 200 with ${actual}`, [notice], { expected: 'an empty body', actual });
}

/** Why a notice was not answered with 200; null where it was. */
function noticeFault(notice: Leg, path: string): Observation | null {
  const status = statusOf(notice);
  if (status === 200) return null;
  if (status !== null)
    return broken(`${path} answered ${status}`, [notice], { expected: '200', actual: String(status) });
  const { phase, code } = notice.broken ?? {};
  return phase === undefined || phase === 'connect' || phase === 'address'
    ? unseen(`${path} could not be reached${code === undefined ? '' : ` (${code})`}`, [notice])
    : broken(`${path} did not answer ${howLong(notice)}`, [notice], { expected: '200' });
}

/** Who has waited long enough is us. */
function howLong(notice: Leg): string {
  const { code } = notice.broken ?? {};
  const ended = endedAt(notice);
  return code === 'ETIMEDOUT' && ended !== null
    ? `within ${formatDuration(ended - notice.request.at)}`
    : `(${code})`;
}

/** TOOL-CANCEL: 200 with nothing in it, whatever is cancelled. */
export const takesCancels: Rule = {
  id: 'TOOL-CANCEL',
  failsWhere: 'the tool crashes',
  absent: 'no call was canceled',
  observe: evidence => onNotices(evidence.cancels, '/cancel_tool_call', evidence),
};

/** TOOL-CLOSE: 200 with nothing in it, whatever is closed. */
export const takesCloses: Rule = {
  id: 'TOOL-CLOSE',
  failsWhere: 'the tool crashes',
  absent: 'no thread was closed',
  observe: evidence => onNotices(evidence.closes, '/close_thread', evidence),
};

type News = readonly Told<'subscription_event'>[];

/** What was on its way when the cancel was acknowledged may still come. In ms. */
const GRACE_MS = 500;

/** A notice that was taken, and when. */
interface Cancel {
  readonly notice: Leg;
  readonly at: number;
}

/**
 * An event that came once it was too late for one; null where it was not. The first may have been on its way, for as long as a busy
 * machine takes: who sends another one when that was answered has not heard of the cancel.
 */
function onLateEvent({ callback }: News[0], news: News, call: CallEvidence): Observation | null {
  const cancel = cancelOf(call);
  if (!cancel || !isLate(callback, cancel)) return null;
  const after = formatDuration(callback.request.at - cancel.at);
  const goesOn = news.some(each => isTakenBetween(each.callback, cancel, callback));
  return goesOn
    ? broken(
        `an event came more than ${GRACE_MS}ms after the cancel was acknowledged`,
        [cancel.notice, callback],
        {
          expected: 'nothing after a cancel',
          actual: `after ${after}`,
        },
      )
    : heldBut(`an event came ${after} after the cancel was acknowledged, and may have been on its way`, [
        cancel.notice,
        callback,
      ]);
}

/** Reports how long nothing came after the cancel. */
function onSilence(start: Leg, news: News, call: CallEvidence, evidence: Evidence): readonly Observation[] {
  const cancel = cancelOf(call);
  if (!cancel || news.some(({ callback }) => isLate(callback, cancel))) return [];
  const watched = watchedSince(cancel.at, evidence);
  if (watched <= GRACE_MS) return [];
  const what = `nothing from ${GRACE_MS}ms to ${formatDuration(watched)} after the cancel`;
  return [held([start, cancel.notice], what)];
}

function cancelOf({ cancels }: CallEvidence): Cancel | null {
  const notice = cancels.find(cancel => statusOf(cancel) === 200);
  const at = notice && endedAt(notice);
  return notice && typeof at === 'number' ? { notice, at } : null;
}

function isLate({ request }: Leg, { at }: Cancel): boolean {
  return request.at > at + GRACE_MS;
}

/** What was not taken comes again, and is the same event. */
function isTakenBetween(leg: Leg, { at }: Cancel, { request }: Leg): boolean {
  const isTaken = leg.response !== null && !isFailedForNow(leg) && leg.response.seq < request.seq;
  return isTaken && leg.request.at > at;
}

type NewsItem = Told<'subscription_event'>;

/** TOOL-SUB: events come after a result that says so, name their call, and end with the last one or a cancel. */
export const keepsSubscriptions: Rule = {
  id: 'TOOL-SUB',
  isOffered: true,
  absent: 'no call started a subscription',
  observe: evidence => {
    const names = namesOf(evidence.calls);
    return evidence.calls.flatMap(call =>
      call.reading.ok ? onCall({ call, invocation: call.reading.invocation, names, evidence }) : [],
    );
  },
};

interface Subject {
  readonly call: CallEvidence;
  readonly invocation: Invocation;
  readonly names: Names;
  readonly evidence: Evidence;
}

function onCall(subject: Subject): readonly Observation[] {
  const { call, invocation, names, evidence } = subject;
  const news = toldAs(call, 'subscription_event').filter(
    ({ message }) => !names.isOthers('id', message.tool_call_id, invocation),
  );
  const start = toldAs(call, 'tool_result').find(({ message }) => message.subscription === true)?.callback;
  const judged = news.map(each => onNews(each, news, start, subject));
  if (!start) return [...judged, ...notStarted(news, subject)];
  const observed = [...judged, ...afterFinal(start, news, call), ...onSilence(start, news, call, evidence)];
  return observed.length > 0 ? observed : [scant('a subscription was started, but no event came', [start])];
}

function onNews(
  each: NewsItem,
  news: readonly NewsItem[],
  start: Leg | undefined,
  { call, invocation }: Subject,
) {
  const { callback, message } = each;
  const { tool_call_id: named } = message;
  if (named !== invocation.id)
    return broken('an event has another tool_call_id', [callback], {
      name: excerpt(named),
      expected: excerpt(invocation.id),
      actual: excerpt(named),
      spots: [sent(callback, 'tool_call_id')],
    });
  if (!start) return lacking('an event came without a result with subscription: true', [callback]);
  if (start.request.at - callback.request.at > ACK_TOLERANCE_MS)
    return broken('an event came before the result with subscription: true', [callback, start]);
  return afterLast(each, news) ?? onLateEvent(each, news, call) ?? inOrder(callback, start);
}

/** On connections of their own, what was sent first may be read second. */
function inOrder(callback: Leg, start: Leg): Observation {
  return start.request.seq > callback.request.seq
    ? doubtful('an event came just before the result with subscription: true', [callback, start])
    : held([start, callback]);
}

function afterLast({ callback }: NewsItem, news: readonly NewsItem[]): Observation | null {
  const last = news.find(({ message }) => message.final === true)?.callback;
  const isLater = last !== undefined && callback.request.seq > last.request.seq;
  return isLater && !saysTheSame(callback, last)
    ? broken('an event came after the final one', [last, callback])
    : null;
}

/** Who has watched for a while says for how long. */
function afterFinal(
  start: Leg,
  news: readonly NewsItem[],
  { expiries }: CallEvidence,
): readonly Observation[] {
  const last = news.at(-1);
  const watch = expiries.find(
    ({ what, seq }) => what === 'observation' && seq > (last?.callback.request.seq ?? 0),
  );
  if (last?.message.final !== true || !watch) return [];
  return [
    held([start, last.callback], `nothing within ${formatDuration(watch.afterMs)} after the final event`),
  ];
}

/** A call that was planned to start a subscription. */
function notStarted(news: readonly NewsItem[], { call }: Subject): readonly Observation[] {
  const isMeant = call.plans.some(({ checks = [] }) => checks.includes('TOOL-SUB'));
  const result = toldAs(call, 'tool_result')[0]?.callback;
  if (!isMeant || !result || news.length > 0) return [];
  return [broken('a call that should start a subscription ended without subscription: true', [result])];
}
