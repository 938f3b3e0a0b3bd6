import { outcomeOf } from '../../exchange/ending.js';
import { acknowledgedAfter, type Exchange, isSubscribed, type Settlement } from '../../exchange/exchange.js';
import { formatDuration } from '../../text/format-duration.js';
import { onceEach } from '../../text/once-each.js';
import type { Line, Span } from '../line.js';
import { runningClock } from '../running-clock.js';
import { outcomeWords } from '../session/words.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';

/** How an exchange stands, in a few words. */
export interface Standing {
  readonly mark: Span;
  readonly line: Line;
  /** Its clock goes on: what it says depends on the time. */
  readonly isRunning: boolean;
}

/**
 * @param begunAt, now ms since the start
 */
export function standingOf(exchange: Exchange, begunAt: number, now: number): Standing {
  const { settled } = exchange;
  if (!settled) return pendingStanding(exchange, begunAt, now);
  const isOpen = isSubscribed(exchange);
  const line = [...endLine(exchange, settled, begunAt), ...eventCount(exchange)];
  return { mark: isOpen ? say('…', 'running') : endMark(exchange), line, isRunning: false };
}

function pendingStanding(exchange: Exchange, begunAt: number, now: number): Standing {
  const since = runningClock(now - begunAt);
  const asked = askedWords(exchange);
  if (asked) return { mark: say('?', 'warn'), line: [say(asked, 'warn'), since], isRunning: true };
  return { mark: say('…', 'running'), line: [...wayLine(exchange), since], isRunning: true };
}

function askedWords({ waitingFor }: Exchange): string | null {
  if (waitingFor === null) return null;
  return waitingFor.type === 'oauth' ? 'asks for consent' : 'asks for a choice';
}

/** How far its dispatch is. */
function wayLine(exchange: Exchange): Line {
  const last = exchange.attempts.at(-1);
  if (!last) return [say('expected', 'running')];
  if (acknowledgedAfter(exchange) !== null) return [say('acknowledged', 'running')];
  if (last.endedAt === undefined) return [say('sent', 'running')];
  return [say('not acknowledged: ', 'warn'), ...clipped(last.broken?.code ?? String(last.status), 'warn')];
}

function endLine(exchange: Exchange, { at }: Settlement, begunAt: number): Line {
  const outcome = outcomeOnce(exchange);
  const words = outcome ? outcomeWords(outcome) : [];
  return [...words, say(` after ${formatDuration(Math.max(0, at - begunAt))}`, 'dim')];
}

function endMark(exchange: Exchange): Span {
  return outcomeOnce(exchange)?.type === 'success' ? say('✓', 'good') : say('✗', 'bad');
}

/** Of its subscription: `, 12 events so far`, or how it came to its end where the tool said no last one. */
export function eventCount({ subscription }: Pick<Exchange, 'subscription'>): Line {
  if (!subscription) return [];
  const { events, ended } = subscription;
  const count = `, ${events} event${events === 1 ? '' : 's'}`;
  if (!ended) return [say(`${count} so far`, 'running')];
  return [say(count, 'dim'), ...(ended.by === 'final' ? [] : [say(`, ${GIVEN_UP[ended.by]}`, 'warn')])];
}

const GIVEN_UP = { cancel: 'cancelled', close: 'closed' } as const;

/** The text that it is read from may be large. */
const outcomeOnce = onceEach(outcomeOf);
