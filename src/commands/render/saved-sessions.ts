import { readAs } from '../../dialects/dialects.js';
import type { CallLog } from '../../events/call-log.js';
import type { Event } from '../../events/events.js';
import { type Session, Sessions } from '../../events/session-calls.js';
import type { Warning } from '../../protocol/requirements.js';
import { problemLines } from '../../render/failure.js';
import { clipped, type Line, line, say, timedLine } from '../../render/line.js';
import { sessionReport } from '../../render/outputs/session.js';
import {
  callBodies,
  callLine,
  finalLines,
  type KnownCall,
  knownCalls,
  receivedAnswer,
  sessionHead,
  sessionState,
} from '../../render/session-calls.js';
import { newsOf } from '../../render/tool-news.js';
import { mergeWarnings } from '../../render/warnings.js';
import { messagesOf, type SavedAnswer, type Section } from './saved.js';

/** A file is finite, so everything in it is kept. */
const ALL = { calls: Infinity, bytes: Infinity, sessions: Infinity };

/** The agent sessions of a transcript, and their calls. */
export class SavedSessions {
  readonly #sessions = new Sessions(ALL);
  /** What happened in them. */
  readonly #timeline: Line[] = [];

  /** @param log of the transcript; it must have an event before the sessions get it */
  constructor(private readonly log: CallLog) {}

  apply(event: Event): void {
    this.#sessions.apply(event);
    if (event.kind === 'planned' || event.kind === 'dropped' || event.kind === 'warned') return; // these appear in the timeline of the calls
    const news = newsOf(event, { sessions: this.#sessions, history: this.log.history });
    if (news) this.#timeline.push(timedLine(event.at, news));
  }

  /** Whether nothing happened in agent sessions. */
  get isEmpty(): boolean {
    return this.#timeline.length === 0;
  }

  /** The timeline, then each session with its calls. Calls of a RAP tool have their own part of the transcript. */
  get sections(): Section[] {
    if (this.isEmpty) return [];
    const { history, events } = this.log;
    const now = events.at(-1)?.at ?? 0;
    const parts = this.#sessions.list.flatMap(session => {
      const calls = knownCalls(session, history);
      const ofOthers = calls
        .filter(({ exchange }) => !exchange)
        .map(known => [[say('CALL ', 'title'), ...callLine(known.call)], ...callBodies(known)]);
      return [sessionLines(session, calls, now), ...ofOthers, finalLines(session)];
    });
    const warnings = mergeWarnings(messagesOf(this.#sessions.warnings));
    return [this.#timeline, ...parts, problemLines(warnings)];
  }

  /** The output of `session answer -o json` for each session. @param notes warnings about the transcript */
  reports(notes: readonly Warning[]) {
    const { history, events } = this.log;
    const known = { sessions: this.#sessions, history };
    return known.sessions.list.map(({ id }) =>
      sessionReport({ session: { id, url: urlOf(id, events) }, known, notes, trouble: null }),
    );
  }

  /** The answers given to the sessions. */
  answers(): SavedAnswer[] {
    const known = this.#sessions.list.flatMap(session => knownCalls(session, this.log.history));
    return known.flatMap(answersTo);
  }
}

/** Returns the final state of a session, and its calls. */
function sessionLines(session: Session, calls: readonly KnownCall[], now: number): Line[] {
  const rows = calls.map(known => {
    const { mark, line: state } = sessionState(known, now);
    return line`${mark} ${callLine(known.call)}${say('  ', 'gutter')}${state}`;
  });
  const name = line`${say('SESSION ', 'title')}${clipped(session.id, 'title')}`;
  return [line`${name}  ${sessionHead(session, now)}`, ...rows];
}

/** An `error_event` does not contain the kind of failure, so it is taken from the call. */
function answersTo(known: KnownCall): SavedAnswer[] {
  const body = known.call.answer?.body;
  const reading = body?.json.ok ? readAs('session', body.json.value) : null;
  const given = receivedAnswer(known);
  if (!body || !given || !reading?.ok) return [];
  const answer = { ...reading.answer, outcome: given.outcome };
  return [{ ...reading, answer, source: () => body.text }];
}

/** Returns the URL of a session; empty if there was no request. */
function urlOf(id: string, events: readonly Event[]): string {
  const place = `/sessions/${encodeURIComponent(id)}`;
  for (const event of events) {
    const at = event.kind === 'request' && event.dialect === 'session' ? event.url.indexOf(place) : -1;
    if (event.kind === 'request' && at >= 0) return event.url.slice(0, at + place.length);
  }
  return '';
}
