import { acknowledgedAfter, type Exchange, isSubscribed, outcomeOf } from '../../events/exchange.js';
import { arrivalWarnings } from '../../render/callbacks.js';
import { type CallState, notAcknowledged, outcomeLine } from '../../render/calls.js';
import { type Line, line, MARKS, pluralize, runningClock, type Span, say, took } from '../../render/line.js';
import { memoizeByObject } from '../../util/collections.js';
import { visibleLine } from '../../util/visible.js';

/** The state of a call of this session. */
export function exchangeState(exchange: Exchange, begunAt: number, now: number): CallState {
  const { settled, waitingFor } = exchange;
  if (settled) {
    const state = settledState(exchange, settled.at - begunAt, SO_FAR);
    return isSubscribed(exchange) ? { ...state, mark: MARKS.running } : state;
  }
  const asks = waitingFor?.type === 'oauth' ? 'asks for consent' : 'asks for a choice';
  return {
    mark: waitingFor ? MARKS.asking : MARKS.running,
    line: line`${waitingFor ? say(asks, 'warn') : dispatchWords(exchange)}${runningClock(now - begunAt)}`,
    isRunning: true,
  };
}

/** The final state: nothing of a recording is still running. */
export function recordedState(exchange: Exchange, begunAt: number): CallState {
  const { settled } = exchange;
  if (settled) return settledState(exchange, settled.at - begunAt, NOT_ENDED);
  return { mark: MARKS.failed, line: [say(missingWords(exchange), 'bad')], isRunning: false };
}

function missingWords(exchange: Exchange): string {
  const { misdirected, waitingFor, attempts } = exchange;
  const { status, broken } = attempts.at(-1) ?? {};
  if (misdirected > 0) return 'posted to a wrong address';
  if (waitingFor) return 'no result, and no answer to its question';
  if (acknowledgedAfter(exchange) !== null || attempts.length === 0) return 'no result';
  return `not acknowledged: ${visibleLine(broken?.code ?? String(status ?? 'no answer'))}`;
}

export const SO_FAR = say(' so far', 'running');

export const NOT_ENDED = say(', open', 'warn');

/** @param open about a subscription that has not ended */
function settledState(exchange: Exchange, ms: number, open: Span): CallState {
  const outcome = outcomeOnce(exchange);
  return {
    mark: outcome?.type === 'success' ? MARKS.done : MARKS.failed,
    line: line`${outcome && outcomeLine(outcome)}${took(ms)}${eventCount(exchange, open)}`,
    isRunning: false,
  };
}

/** Whether the tool sent a callback that was refused or ignored; the Problems tab checks all requirements. */
export const hasProblems = memoizeByObject(
  (exchange: Exchange) =>
    exchange.misdirected > 0 ||
    exchange.arrivals
      .flatMap(arrival => arrivalWarnings(arrival, exchange))
      .some(({ id }) => id === 'RT-VALIDATE' || id?.startsWith('TOOL-')),
);

/** Cached: the text that contains the outcome may be large. */
const outcomeOnce = memoizeByObject(outcomeOf);

function dispatchWords(exchange: Exchange): Line {
  const last = exchange.attempts.at(-1);
  if (!last) return [say('expected', 'running')];
  if (acknowledgedAfter(exchange) !== null) return [say('acknowledged', 'running')];
  return last.endedAt === undefined ? [say('sent', 'running')] : notAcknowledged(last);
}

const ENDED_BY = { final: null, cancel: ', canceled', close: ', closed' } as const;

/** The number of subscription events, and how the subscription ended without a final event. @param open if it has not ended */
export function eventCount({ subscription }: Exchange, open: Span): Line {
  if (!subscription) return [];
  const { events, ended } = subscription;
  const count = `, ${pluralize(events, 'event')}`;
  if (!ended) return [say(count, open.tone), open];
  const end = ENDED_BY[ended.by];
  return [say(count, 'dim'), ...(end === null ? [] : [say(end, 'warn')])];
}
