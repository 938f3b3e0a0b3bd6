import { type Exchange, isSubscribed } from '../../events/exchange.js';
import { type Line, line, pluralize, quote, say } from '../../render/line.js';
import { widthOf } from '../../render/terminal/fit.js';
import { formatDuration } from '../../util/text.js';
import { type Hint, hintsLine } from '../keys.js';
import { answerableOf, type LiveState, type Visit } from './state.js';

/** Until this time has passed, the view does not report that it is waiting. */
const WAITING_DELAY_MS = 1_000;

/** The current activity or the user's options, directly below the steps. @param timeoutMs for the result; 0: no limit */
export function statusLines(
  state: LiveState,
  exchange: Exchange | undefined,
  timeoutMs: number,
): readonly Line[] {
  const { visit, page, now, isOver } = state;
  const { columns } = state.size;
  if (isOver || !exchange) return [];
  if (page && answerableOf(state) === page) return visitLines(visit?.page === page ? visit : null, columns);
  if (exchange.subscription && isSubscribed(exchange))
    return [subscriptionLine(exchange.subscription, now, columns)];
  return awaitedLines(exchange, now, timeoutMs);
}

function visitLines(visit: Visit | null, columns: number): readonly Line[] {
  const again = visit?.outcome?.isBad ? 'tries again' : 'opens it again';
  const hints: readonly Hint[] = [
    ['o', visit === null ? 'opens it' : again],
    ['Ctrl-C', 'cancels'],
  ];
  return [...(visit ? [visitedLine(visit)] : []), hintsLine([], hints, columns)];
}

function visitedLine({ outcome }: Visit): Line {
  if (outcome === null) return [say('opening it …', 'good')];
  return quote(outcome.text, outcome.isBad ? 'bad' : 'good');
}

/** The number of events and the elapsed time, with the key if there is room for it. */
function subscriptionLine(
  { events, openedAt }: NonNullable<Exchange['subscription']>,
  now: number,
  columns: number,
): Line {
  const open = Math.max(0, now - openedAt);
  const shown = formatDuration(open < 1_000 ? open : Math.floor(open / 1_000) * 1_000);
  const words = line`${say('… ', 'running')}subscribed: ${say(pluralize(events, 'event'))}${say(`, ${shown}`, 'dim')}`;
  const whole = [...words, say('; Ctrl-C cancels', 'dim')];
  return widthOf(whole) <= columns ? whole : words;
}

/** The missing message, the elapsed time, and the key that stops waiting. */
function awaitedLines(exchange: Exchange, now: number, timeoutMs: number): readonly Line[] {
  const { settled, questions, attempts, arrivals, dialect } = exchange;
  const waited = now - (attempts[0]?.sentAt ?? now);
  if (settled || questions.length > 0 || waited < WAITING_DELAY_MS) return [];
  const missing = dialect !== 'mcp' && arrivals.length === 0 ? 'no callback has arrived yet · ' : '';
  const limit = timeoutMs > 0 ? ` of ${timeoutMs / 1_000} s` : '';
  const time = (Math.floor(waited / 100) / 10).toFixed(1);
  return [[say(`  ${missing}${time} s${limit} · Ctrl-C stops`, 'dim')]];
}
