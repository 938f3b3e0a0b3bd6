import { readAs } from '../../dialects/dialects.js';
import { answerOf } from '../../events/answer.js';
import type { Content } from '../../events/content.js';
import { type Event, toldOnce } from '../../events/events.js';
import { type Exchange, outcomeOf } from '../../events/exchange.js';
import { type History, Owners } from '../../events/history.js';
import { callbackSecrets } from '../../events/shareable.js';
import { isWhole, missingFrom, type Transcript } from '../../events/transcript-reader.js';
import type { Warning } from '../../protocol/requirements.js';
import { finalLines } from '../../render/call-details.js';
import { failureOf } from '../../render/failure.js';
import { say } from '../../render/line.js';
import { invokeReport } from '../../render/outputs/call-report.js';
import { summaryLines, summaryOf, warningsOfAll } from '../../render/outputs/repeats.js';
import { sessionReport } from '../../render/outputs/session/report.js';
import { viewPane } from '../../render/pane-lines.js';
import { panesOf } from '../../render/panes.js';
import { callHeading, problemLines } from '../../render/saved-answers.js';
import {
  type Chapter,
  chronicleOf,
  malformedInvocations,
  sessionCallLines,
  sessionLines,
  sessionTimelineOf,
  timelineOf,
  toolTimelineOf,
  transcriptHeading,
} from '../../render/saved-timeline.js';
import { givenOf, type KnownCall, knownCalls } from '../../render/session-answers.js';
import { counted, warningsOf } from '../../render/warnings.js';
import { excerpt } from '../../util/text.js';
import { usage } from '../options.js';
import {
  type CallSelection,
  linesSection,
  messagesOf,
  paneSection,
  panesSection,
  type Saved,
  type SavedAnswer,
  type Section,
  type View,
} from './saved.js';

/** A transcript: what it is, its timeline, then each call with its panes, its views and its problems. */
export function savedTranscript(transcript: Transcript): Saved {
  return new SavedTranscript(transcript);
}

class SavedTranscript implements Saved {
  readonly faults: readonly string[];
  readonly losses: readonly string[];
  readonly #events: readonly Event[];
  readonly #history: History;
  readonly #chapters: readonly Chapter[];
  readonly #exchanges: readonly Exchange[];
  readonly #malformed: readonly string[];
  readonly #sessions: SessionsOf;
  /** A transcript of the tool's side has one timeline of everything, malformed invocations included. */
  readonly #isTool: boolean;

  constructor(private readonly transcript: Transcript) {
    this.faults = transcript.faults;
    this.losses = missingFrom(transcript);
    this.#events = toldOnce(transcript.events);
    const { whole, chapters } = chronicleOf(this.#events, isWhole(transcript));
    this.#history = whole;
    this.#chapters = chapters;
    this.#exchanges = [...whole.exchanges.values()];
    this.#isTool = transcript.header?.observer === 'tool';
    this.#malformed = this.#isTool ? [] : malformedInvocations(this.#events, transcript);
    this.#sessions = new SessionsOf(this.#events, whole);
  }

  only(selection: CallSelection): Saved {
    const keys = new Set(selectedCalls(this.#exchanges, selection));
    const owners = new Owners(this.#history);
    const isSelected = (event: Event) => owners.of(event).some(key => key !== null && keys.has(key));
    return new SavedTranscript({ ...this.transcript, events: this.#events.filter(isSelected) });
  }

  sections(view: View): Section[] {
    const exchanges = this.#exchanges;
    const list = (title: string, messages: readonly string[]) =>
      linesSection(problemLines(messagesOf(messages), null, title));
    return [
      linesSection(transcriptHeading(this.transcript, exchanges.length)),
      linesSection(this.#isTool ? toolTimelineOf(this.transcript.events) : []),
      ...this.#sessions.sections(),
      ...this.#chapters.flatMap((chapter, index) => this.#chapterSections(chapter, index, view)),
      linesSection(exchanges.length > 1 ? summaryLines(summaryOf(exchanges)) : []),
      list('MALFORMED INVOCATIONS', this.#malformed),
      list('COULD NOT BE READ', this.faults),
      list('LOST', this.losses),
    ];
  }

  /** @param index of several chapters, the first is what belongs to no call */
  #chapterSections(chapter: Chapter, index: number, { supports }: View): Section[] {
    const { history, exchange, events } = chapter;
    const calls = this.#chapters.length - 1;
    const panes = exchange ? panesOf(exchange, supports) : null;
    const views = [...history.threads.values()].flatMap(thread => [...thread.views.values()]);
    const title = say(`CALL ${index} of ${calls}  `, 'title');
    const invocation = calls > 0 ? exchange?.invocation : undefined;
    const warnings = counted([...warningsOf(history, exchange), ...(panes?.warnings ?? [])]);
    return [
      linesSection(invocation ? [[title, ...callHeading(invocation.operation, invocation)]] : []),
      linesSection(this.#isTool ? [] : timelineOf(chapter)),
      ...(panes ? [panesSection(panes)] : []),
      ...views.map(each => paneSection(viewPane(each))),
      ...(exchange ? [{ kind: 'messages', events, redactor: callbackSecrets(events) } as const] : []),
      linesSection(problemLines(warnings, failureIn(chapter))),
    ];
  }

  report({ supports }: View): unknown {
    const malformed = this.#malformed.map(each => `malformed invocation, ${each}`);
    const notes = messagesOf([...malformed, ...this.faults, ...this.losses]);
    const ofSessions = this.#sessions.report(notes);
    if (ofSessions !== null) return ofSessions;
    const reportOf = (chapter: Chapter, own: readonly Warning[] = []) => {
      const { history, exchange } = chapter;
      return invokeReport({ history, exchange, notes: own, trouble: failureIn(chapter) }, supports);
    };
    const [only, ...calls] = this.#chapters;
    if (only && calls.length === 0) return reportOf(only, notes);
    return {
      calls: calls.map(chapter => reportOf(chapter)),
      summary: summaryOf(this.#exchanges),
      warnings: [...notes, ...warningsOfAll(this.#history)],
    };
  }

  /** What agent sessions were given for these calls, else the results of the calls. */
  answers(): SavedAnswer[] {
    const settled = this.#sessions.calls().flatMap(sessionAnswer);
    return settled.length > 0 ? settled : this.#results();
  }

  #results(): SavedAnswer[] {
    const bodies = new Map<unknown, Content>();
    for (const event of this.#events) {
      const body = 'body' in event ? event.body : undefined;
      if (body?.json.ok) bodies.set(body.json.value, body); // each body is read once, so its value identifies it
    }
    return this.#exchanges.flatMap(exchange => {
      const answer = answerOf(exchange);
      const body = answer?.native === undefined ? undefined : bodies.get(answer.native);
      return answer ? [{ ...answer, ...(body && { source: textOf(body) }) }] : [];
    });
  }
}

const failureIn = ({ history, exchange }: Chapter) =>
  exchange ? failureOf(exchange, history.untracked) : null;

const textOf = ({ bytes }: Content) => new TextDecoder().decode(bytes);

/** An `error_event` does not say which kind of failure it was; the call does. */
function sessionAnswer(known: KnownCall): SavedAnswer[] {
  const body = known.call.answer?.body;
  const reading = body?.json.ok ? readAs('session', body.json.value) : null;
  const given = givenOf(known);
  if (!body || !given || !reading?.ok) return [];
  return [{ ...reading, answer: { ...reading.answer, outcome: given.outcome }, source: textOf(body) }];
}

/** Keys of the selected calls. @throws ProtocolCliError `usage` if absent */
function selectedCalls(exchanges: readonly Exchange[], { call, failed = false }: CallSelection): string[] {
  const named = exchanges.filter(
    ({ key, invocation }, index) =>
      call === undefined || call === String(index + 1) || call === invocation.id || call === key,
  );
  if (named.length === 0)
    throw usage(
      `no call ${excerpt(call ?? '')} in the transcript`,
      `It has ${exchanges.length} call${exchanges.length === 1 ? '' : 's'}: use a number from 1, or an id.`,
    );
  const selected = failed ? named.filter(each => outcomeOf(each)?.type !== 'success') : named;
  if (selected.length === 0) throw usage('no call of the transcript failed');
  return selected.map(({ key }) => key);
}

/** The agent sessions of a transcript. */
class SessionsOf {
  readonly #timeline: ReturnType<typeof sessionTimelineOf>;

  /** @param history of the same events */
  constructor(
    private readonly events: readonly Event[],
    private readonly history: History,
  ) {
    this.#timeline = sessionTimelineOf(events, history);
  }

  /** The calls of all sessions, in the order in which they were asked. */
  calls(): KnownCall[] {
    return this.#timeline.sessions.list.flatMap(session => knownCalls(session, this.history));
  }

  /** What happened in order, then each session with its calls. Calls of a RAP tool have a chapter of their own. */
  sections(): Section[] {
    const { lines, sessions } = this.#timeline;
    if (lines.length === 0) return [];
    const now = this.events.at(-1)?.at ?? 0;
    return [
      linesSection(lines),
      ...sessions.list.flatMap(session => {
        const calls = knownCalls(session, this.history);
        return [
          linesSection(sessionLines(session, calls, now)),
          ...calls.filter(({ exchange }) => !exchange).map(each => linesSection(sessionCallLines(each))),
          linesSection(finalLines(session)),
        ];
      }),
      linesSection(problemLines(counted(messagesOf(sessions.warnings)))),
    ];
  }

  /** What `session answer -o json` would have printed; null without sessions. */
  report(notes: readonly Warning[]): unknown {
    const { sessions } = this.#timeline;
    const known = { sessions, history: this.history };
    const reports = sessions.list.map(({ id }) =>
      sessionReport({ session: { id, url: this.#urlOf(id) }, known, notes, trouble: null }),
    );
    return reports.length > 1 ? { sessions: reports } : (reports[0] ?? null);
  }

  /** Empty without a request. */
  #urlOf(id: string): string {
    const place = `/sessions/${encodeURIComponent(id)}`;
    for (const event of this.events) {
      if (event.kind !== 'request' || event.dialect !== 'session') continue;
      const at = event.url.indexOf(place);
      if (at >= 0) return event.url.slice(0, at + place.length);
    }
    return '';
  }
}
