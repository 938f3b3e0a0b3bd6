import type { Event } from '../../exchange/events.js';
import { type Session, statusOf } from '../../exchange/session/session.js';
import { isSettledStatus, isTerminal } from '../../protocol/session/status.js';
import { formatDuration } from '../../text/format-duration.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';
import { newsOf } from '../tool-calls/index.js';
import { news } from '../tool-calls/news/line.js';
import { finalWords } from './final-words.js';
import { givenOf } from './given.js';
import { type Known, knownCall } from './known.js';
import { requestNews } from './request-news.js';
import { callWords, outcomeWords, shortText } from './words.js';

/** Of the calls that are new this many are named. */
const NAMED = 5;

/**
 * An event of an agent session in a line, as it happens; null where it is no news by itself, or another wire's. Foreign words are safe
 * to print, and short.
 * @param known has had the event already
 */
export function sessionNews(event: Event, known: Known): Line | null {
  switch (event.kind) {
    case 'session':
      return statusNews(event, known);
    case 'awaiting':
      return awaitingNews(event, known);
    case 'answered':
      return answerNews(event, known);
    case 'response':
    case 'broken': {
      const request = known.sessions.request(event.leg);
      const line = request && requestNews(event, request);
      return line ? labelled(line, request.thread, known) : null;
    }
    case 'warned':
      return news('warning', ...clipped(event.message, 'warn', 2_000));
    case 'expired':
      return event.calls || event.what !== 'timeout'
        ? null
        : news('failed', say(`nothing new for ${formatDuration(event.afterMs)}`, 'bad'));
    case 'planned':
    case 'dropped':
      return newsOf(event, undefined);
    default:
      return null;
  }
}

/** That it waits for calls is told by which they are. */
function statusNews(event: Extract<Event, { kind: 'session' }>, { sessions }: Known): Line | null {
  const session = sessions.get(event.thread ?? '');
  if (!session) return null;
  const isSaying = event.answer !== undefined || event.error !== undefined;
  const isChange = session.statuses.at(-1)?.at === event.at;
  if (event.status === 'awaiting_tool_results' || !(isChange || isSaying)) return null;
  return statusLine(session, event.at);
}

function statusLine(session: Session, at: number): Line {
  const status = statusOf(session) ?? '';
  const name: Line = [say('session '), ...clipped(session.id, 'title')];
  if (!isSettledStatus(status)) return news('note', ...name, say(' is '), ...clipped(status));
  const does = isTerminal(status) ? ' ended as ' : ' is ';
  const took = say(` after ${formatDuration(at - session.beganAt)}`, 'dim');
  const isWell = session.error === null && WELL.has(status);
  return news(
    isWell ? 'done' : 'failed',
    ...name,
    say(does),
    ...clipped(status),
    took,
    ...finalWords(session),
  );
}

const WELL: ReadonlySet<string> = new Set(['completed', 'idle']);

/** The calls that are new; of those that are published again nothing is told. */
function awaitingNews(
  { thread, pending, at }: Extract<Event, { kind: 'awaiting' }>,
  known: Known,
): Line | null {
  const asked = pending.flatMap(({ key }) => {
    const found = knownCall(known, thread, key);
    return found?.call.askedAt === at ? [found.call] : [];
  });
  if (asked.length === 0) return null;
  const named = asked
    .slice(0, NAMED)
    .flatMap((call, index) => [...(index > 0 ? [say(' · ', 'dim')] : []), ...callWords(call)]);
  const rest = asked.length - NAMED;
  const more = rest > 0 ? [say(` and ${rest} more`, 'dim')] : [];
  const count = asked.length === 1 ? 'a call: ' : `${asked.length} calls: `;
  return labelled(news('received', say(`waits for ${count}`), ...named, ...more), thread, known);
}

function answerNews(
  { thread, calls = [], at, by }: Extract<Event, { kind: 'answered' }>,
  known: Known,
): Line | null {
  const found = knownCall(known, thread, calls[0] ?? '');
  const given = found && givenOf(found);
  if (!found || !given) return null;
  const { outcome, text } = given;
  const took = say(` after ${formatDuration(Math.max(0, at - found.call.askedAt))}`, 'dim');
  const words = [...outcomeWords(outcome), ...(text === null ? [] : [say(' '), ...shortText(text)])];
  const does = by === 'platform' ? ' got ' : ' answered: ';
  const kind = outcome.type === 'success' ? 'done' : 'failed';
  return labelled(news(kind, ...callWords(found.call), say(does), ...words, took), thread, known);
}

/** Which session it is about, where there are several. */
function labelled(line: Line, thread: string | undefined, { sessions }: Known): Line {
  if (thread === undefined || sessions.size < 2) return line;
  return [...line, say(' (', 'dim'), ...clipped(thread, 'dim'), say(')', 'dim')];
}
