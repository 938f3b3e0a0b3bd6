import { ACK_TOLERANCE_MS } from '../../exchange/exchange.js';
import type { Invocation } from '../../protocol/invocation.js';
import { excerpt } from '../../text/excerpt.js';
import { formatDuration } from '../../text/format-duration.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import type { Leg } from '../evidence/leg.js';
import { saysTheSame, type Told, toldAs } from '../evidence/messages.js';
import { type Names, namesOf } from '../evidence/neighbours.js';
import { broken, doubtful, held, lacking, type Observation, scant } from '../observation.js';
import type { Rule } from '../rule.js';
import { sent } from '../spot.js';
import { onLateEvent, onSilence } from './subscription/after-cancel.js';

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
  return observed.length > 0
    ? observed
    : [scant('a subscription was started, and no event of it came', [start])];
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
  if (!start) return lacking('an event came, and no result had said subscription: true', [callback]);
  if (start.request.at - callback.request.at > ACK_TOLERANCE_MS)
    return broken('an event came before the result that says subscription: true', [callback, start]);
  return afterLast(each, news) ?? onLateEvent(each, news, call) ?? inOrder(callback, start);
}

/** On connections of their own, what was sent first may be read second. */
function inOrder(callback: Leg, start: Leg): Observation {
  return start.request.seq > callback.request.seq
    ? doubtful('an event came just before the result that says subscription: true', [callback, start])
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

/** A call that was made for its subscription, by somebody who knows. */
function notStarted(news: readonly NewsItem[], { call }: Subject): readonly Observation[] {
  const isMeant = call.plans.some(({ checks = [] }) => checks.includes('TOOL-SUB'));
  const result = toldAs(call, 'tool_result')[0]?.callback;
  if (!isMeant || !result || news.length > 0) return [];
  return [broken('a call that should start a subscription ended without subscription: true', [result])];
}
