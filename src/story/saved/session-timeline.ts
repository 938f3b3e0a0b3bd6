import type { Event } from '../../exchange/events.js';
import type { History } from '../../exchange/history.js';
import { Sessions } from '../../exchange/session/sessions.js';
import { formatDuration } from '../../text/format-duration.js';
import type { Line } from '../line.js';
import { sessionNews } from '../session/news.js';
import { say } from '../spans.js';

/** Agent sessions of a file, and what happened in them, in the order in which it did. */
export interface SessionTimeline {
  readonly sessions: Sessions;
  /** Each with the time since the start in the margin. */
  readonly lines: readonly Line[];
}

/** Nobody waits for the end of a file: all that it tells of is kept. */
const ALL = {
  calls: Number.POSITIVE_INFINITY,
  bytes: Number.POSITIVE_INFINITY,
  sessions: Number.POSITIVE_INFINITY,
};
const MARGIN = 8;

/** @param history of the same events: what it knows of an answer, its line says too */
export function sessionTimelineOf(events: readonly Event[], history: History): SessionTimeline {
  const sessions = new Sessions(ALL);
  const lines = events.flatMap(event => {
    sessions.apply(event);
    const line = isOfSessions(event) ? sessionNews(event, { sessions, history }) : null;
    return line ? [[say(`${formatDuration(event.at).padStart(MARGIN)} `, 'gutter'), ...line]] : [];
  });
  return { sessions, lines };
}

/** What else there is in a file has a story of its own. */
function isOfSessions({ kind }: Event): boolean {
  return kind !== 'planned' && kind !== 'dropped' && kind !== 'warned';
}
