import type { Event } from '../../../exchange/events.js';
import type { History } from '../../../exchange/history.js';
import type { Warning } from '../../../protocol/requirements.js';
import { sessionReport } from '../../../reporters/session/report.js';
import { problemLines } from '../../../story/saved/problem-lines.js';
import { sessionCallLines, sessionLines } from '../../../story/saved/session-lines.js';
import { type SessionTimeline, sessionTimelineOf } from '../../../story/saved/session-timeline.js';
import { finalLines } from '../../../story/session/final-words.js';
import { type KnownCall, knownCalls } from '../../../story/session/known.js';
import { counted } from '../../../story/warnings.js';
import { linesSection, type Section } from '../sheet.js';

/** The agent sessions of a transcript. */
export interface SessionStory {
  /** What happened in them, in order, then each with its calls; nothing where there are none. */
  sections(): Section[];
  /** The object that `session answer -o json` would have printed, for each of them; null where there are none. */
  report(notes: readonly Warning[]): unknown;
  /** Of all of them, session by session, in the order in which they were asked. */
  calls(): KnownCall[];
}

/** @param history of the same events */
export function sessionStoryOf(events: readonly Event[], history: History): SessionStory {
  const timeline = sessionTimelineOf(events, history);
  const { sessions, lines } = timeline;
  return {
    calls: () => sessions.list.flatMap(session => knownCalls(session, history)),
    sections: () =>
      lines.length === 0 ? [] : [linesSection(lines), ...sessionSections(timeline, history, events)],
    report(notes) {
      const known = { sessions, history };
      const reports = sessions.list.map(({ id }) =>
        sessionReport({ session: { id, url: urlOf(events, id) }, known, notes, trouble: null }),
      );
      return reports.length > 1 ? { sessions: reports } : (reports[0] ?? null);
    },
  };
}

/** A call of a RAP tool has a chapter of its own, with its panes. */
function sessionSections(
  { sessions }: SessionTimeline,
  history: History,
  events: readonly Event[],
): Section[] {
  const now = events.at(-1)?.at ?? 0;
  const shown = sessions.list.flatMap(session => {
    const calls = knownCalls(session, history);
    return [
      linesSection(sessionLines(session, calls, now)),
      ...calls.filter(({ exchange }) => !exchange).map(each => linesSection(sessionCallLines(each))),
      linesSection(finalLines(session)),
    ];
  });
  const warnings = sessions.warnings.map(message => ({ message }));
  return [...shown, linesSection(problemLines(counted(warnings)))];
}

/** As it was asked for; empty where nobody did. */
function urlOf(events: readonly Event[], id: string): string {
  const place = `/sessions/${encodeURIComponent(id)}`;
  for (const event of events) {
    if (event.kind !== 'request' || event.dialect !== 'session') continue;
    const at = event.url.indexOf(place);
    if (at >= 0) return event.url.slice(0, at + place.length);
  }
  return '';
}
