import { acknowledgedAfter, type Exchange } from '../../exchange/exchange.js';
import { type SessionCallState, sessionCallState } from '../../exchange/session/session.js';
import { formatDuration } from '../../text/format-duration.js';
import type { Line, Span } from '../line.js';
import { runningClock } from '../running-clock.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';
import { type Given, givenOf } from './given.js';
import type { KnownCall } from './known.js';
import { outcomeWords } from './words.js';

/** How a call stands: on the leg to its tool until it is answered, then on that to the platform. */
export interface CallStanding {
  readonly mark: Span;
  readonly line: Line;
  /** Its clock goes on: what it says depends on the time. */
  readonly isRunning: boolean;
}

/** @param now ms since the start */
export function callStanding(known: KnownCall, now: number): CallStanding {
  const state = sessionCallState(known.session, known.call);
  if (state === 'pending') return pendingStanding(known, now);
  const given = givenOf(known);
  const words = given ? [...outcomeWords(given.outcome), say(', ', 'dim')] : [];
  const isUnexpected = (known.call.answer?.unexpected.length ?? 0) > 0;
  const unexpected = isUnexpected ? [say('not as expected', 'bad'), say(', ', 'dim')] : [];
  const line = [...words, ...unexpected, ...STATES[state](known)];
  const mark = isUnexpected ? say('✗', 'bad') : markOf(state, given);
  return { mark, line, isRunning: state === 'posting' };
}

const STATES: Readonly<Record<Exclude<SessionCallState, 'pending'>, (known: KnownCall) => Line>> = {
  answered: ({ call: { posts } }) => [say(posts > 0 ? 'to be posted again' : 'to be posted', 'running')],
  posting: ({ call: { posts } }) => [say(posts > 1 ? 'posting again' : 'posting', 'running')],
  taken: ({ call: { post, takenAt, askedAt } }) => {
    const took = takenAt === null ? [] : [say(` after ${formatDuration(takenAt - askedAt)}`, 'dim')];
    return [say(`posted${post?.status === undefined ? '' : ` ${post.status}`}`), ...took];
  },
  refused: ({ call: { post } }) => [say(`refused with ${post?.status ?? 'an error'}`, 'bad')],
  unwanted: () => [say('not wanted any more', 'warn')],
  gone: () => [say('settled by somebody else', 'dim')],
};

function markOf(state: Exclude<SessionCallState, 'pending'>, given: Given | null): Span {
  switch (state) {
    case 'answered':
    case 'posting':
      return say('…', 'running');
    case 'refused':
      return say('✗', 'bad');
    case 'taken':
      return given === null || given.outcome.type === 'success' ? say('✓', 'good') : say('✗', 'bad');
    default:
      return say('•', 'dim');
  }
}

function pendingStanding({ call, exchange }: KnownCall, now: number): CallStanding {
  const since = runningClock(now - call.askedAt);
  if (exchange?.waitingFor)
    return { mark: say('?', 'warn'), line: [say('asks you', 'warn'), since], isRunning: true };
  const line = exchange ? legLine(exchange) : [say('pending', 'running')];
  return { mark: say('…', 'running'), line: [...line, since], isRunning: true };
}

function legLine(exchange: Exchange): Line {
  const { attempts, settled } = exchange;
  const last = attempts.at(-1);
  if (settled) return [say('result', 'running')];
  const acknowledged = acknowledgedAfter(exchange);
  if (acknowledged !== null) return [say(`acknowledged after ${formatDuration(acknowledged)},`, 'running')];
  if (last?.endedAt === undefined) return [say('invoked', 'running')];
  return [say('not acknowledged: ', 'warn'), ...clipped(last.broken?.code ?? String(last.status), 'warn')];
}
