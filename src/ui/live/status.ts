import { widthOf } from '../../dress/cut-line.js';
import type { Exchange, Subscription } from '../../exchange/exchange.js';
import type { OAuth } from '../../protocol/callbacks/index.js';
import type { Line } from '../../story/line.js';
import { quote, say } from '../../story/spans.js';
import { formatDuration } from '../../text/format-duration.js';
import { type Hint, hintsLine } from '../hints.js';

/** What became of the wish to open a page. */
export interface Visit {
  readonly page: OAuth;
  readonly said: string;
  readonly isBad: boolean;
  /** It is not known yet what becomes of it. */
  readonly isUnderWay: boolean;
}

/** While a page must be visited: what became of the wish to open it, and the key for that. */
export function visitLines(visit: Visit | null, columns: number): readonly Line[] {
  const [opens, cancels] = [opensHint(visit), ['Ctrl-C', 'cancels']] as const;
  const keys = hintsLine([], [opens, cancels], columns);
  return visit === null ? [keys] : [quote(visit.said, visit.isBad ? 'bad' : 'good'), keys];
}

function opensHint(visit: Visit | null): Hint {
  if (visit === null) return ['o', 'opens it'];
  return ['o', visit.isBad ? 'tries again' : 'opens it again'];
}

/**
 * While events may come: how many did, and for how long they have been awaited; the key where there is room for it.
 * @param now ms since the start
 */
export function subscriptionLine({ events, openedAt }: Subscription, now: number, columns: number): Line {
  const count = `${events} event${events === 1 ? '' : 's'}`;
  const open = formatDuration(wholeSeconds(Math.max(0, now - openedAt)));
  const line = [say('… ', 'running'), say(`subscribed: ${count}`), say(`, ${open}`, 'dim')];
  const whole = [...line, say('; Ctrl-C cancels', 'dim')];
  return widthOf(whole) <= columns ? whole : line;
}

/** Before that a result is expected at any moment. */
const PATIENCE_MS = 1_000;

/**
 * While the result does not come: what is missing, for how long it has been awaited, and the key that stops it.
 * @param now ms since the start
 * @param timeoutMs 0 where there is none
 */
export function awaitedLine(exchange: Exchange, now: number, timeoutMs: number): Line | null {
  const { settled, questions, attempts, arrivals, dialect } = exchange;
  const waited = now - (attempts[0]?.sentAt ?? now);
  if (settled || questions.length > 0 || waited < PATIENCE_MS) return null;
  const isMissing = dialect !== 'mcp' && arrivals.length === 0;
  const limit = timeoutMs > 0 ? ` of ${timeoutMs / 1_000} s` : '';
  const time = `${(Math.floor(waited / 100) / 10).toFixed(1)} s${limit} · Ctrl-C stops`;
  return [say(`  ${isMissing ? 'no callback has arrived yet · ' : ''}${time}`, 'dim')];
}

/** It may last for days: nobody needs ten frames a second of that. */
function wholeSeconds(ms: number): number {
  return ms < 1_000 ? ms : Math.floor(ms / 1_000) * 1_000;
}
