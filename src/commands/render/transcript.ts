import { answerOf } from '../../events/answer.js';
import { RecentCalls } from '../../events/bounded-events.js';
import { CallLog } from '../../events/call-log.js';
import type { Body, Event } from '../../events/events.js';
import { type Exchange, outcomeOf } from '../../events/exchange.js';
import { eventsOnSide, type RoundTrip, roundTripsIn } from '../../events/round-trips.js';
import { callbackRedactor } from '../../events/shareable.js';
import { isWhole, missingFrom, type Transcript } from '../../events/transcript-reader.js';
import type { Warning } from '../../protocol/requirements.js';
import { callHeading } from '../../render/callbacks.js';
import { problemLines } from '../../render/failure.js';
import { type Line, pluralize, say, timedLine } from '../../render/line.js';
import { invokeReport } from '../../render/outputs/call-report.js';
import { summaryLines, summaryOf } from '../../render/outputs/repeats-summary.js';
import { panesOf, viewPane } from '../../render/panes.js';
import { newsOf } from '../../render/tool-news.js';
import { mergeWarnings, warningsOf, warningsOfAll } from '../../render/warnings.js';
import { excerpt } from '../../util/text.js';
import { usageError } from '../options.js';
import { CallPart } from './call-part.js';
import { malformedInvocations } from './malformed-invocations.js';
import { type CallSelection, messagesOf, type Saved, type SavedAnswer, type Section } from './saved.js';
import { SavedSessions } from './saved-sessions.js';
import { transcriptHeading } from './transcript-heading.js';

/** A transcript: its heading and timeline, then each call with its panes, its views and its problems. */
export class SavedTranscript implements Saved {
  readonly faults: readonly string[];
  readonly losses: readonly string[];
  readonly #log: CallLog;
  readonly #parts: readonly CallPart[];
  readonly #exchanges: readonly Exchange[];
  readonly #malformed: readonly string[];
  readonly #sessions: SavedSessions;
  /** A transcript recorded by a tool has one timeline of everything, malformed invocations included. */
  readonly #isTool: boolean;

  /** @param calls the keys of all calls, if only some of them are shown */
  constructor(
    private readonly transcript: Transcript,
    private readonly supports: ReadonlySet<string>,
    private readonly calls?: readonly string[],
  ) {
    const { faults, events, header } = transcript;
    this.faults = faults;
    this.losses = missingFrom(transcript);
    this.#log = new CallLog({ isWhole: isWhole(transcript) });
    this.#sessions = new SavedSessions(this.#log);
    for (const event of eventsOnSide('tool-side', events)) {
      this.#log.apply(event);
      this.#sessions.apply(event);
    }
    const { history, keys } = this.#log;
    const parts = keys.length > 1 ? [null, ...keys].map(key => this.#log.of(key)) : [this.#log.events];
    this.#parts = parts.map(part => new CallPart(part, history.isWhole));
    this.#exchanges = [...history.exchanges.values()];
    this.#isTool = header?.observer === 'tool';
    this.#malformed = this.#isTool ? [] : malformedInvocations(this.#log.events, transcript);
  }

  /** The keys of all calls of the transcript, in the order of their numbers. */
  get #calls(): readonly string[] {
    return this.calls ?? this.#exchanges.map(({ key }) => key);
  }

  only(selection: CallSelection): Saved | null {
    const keys = selectedCalls(this.#exchanges, selection);
    if (keys.length === 0) return null;
    const selected = new Set(keys.flatMap(key => this.#log.of(key)));
    const events = this.#log.events.filter(event => selected.has(event));
    return new SavedTranscript({ ...this.transcript, events }, this.supports, this.#calls);
  }

  get sections(): Section[] {
    const exchanges = this.#exchanges;
    const list = (title: string, messages: readonly string[]) =>
      problemLines(messagesOf(messages), null, title);
    return [
      transcriptHeading(this.transcript, exchanges.length, this.#calls.length),
      this.#isTool ? toolTimelineOf(this.transcript.events) : [],
      ...this.#sessions.sections,
      ...this.#parts.flatMap(part => this.#partSections(part)),
      exchanges.length > 1 ? summaryLines(summaryOf(exchanges)) : [],
      list('MALFORMED INVOCATIONS', this.#malformed),
      list('COULD NOT BE READ', this.faults),
      list('LOST', this.losses),
    ];
  }

  #partSections(part: CallPart): Section[] {
    const { history, exchange } = part;
    const calls = this.#calls;
    const panes = exchange ? panesOf(exchange, this.supports) : null;
    const views = [...history.threads.values()].flatMap(thread => [...thread.views.values()]);
    const number = calls.indexOf(exchange?.key ?? '') + 1;
    const title = say(`CALL ${number} of ${calls.length}  `, 'title');
    const invocation = calls.length > 1 ? exchange?.invocation : undefined;
    const warnings = mergeWarnings([...warningsOf(history, exchange), ...(panes?.warnings ?? [])]);
    return [
      invocation ? [[title, ...callHeading(invocation.operation, invocation)]] : [],
      this.#isTool ? [] : part.timeline,
      part.hidden,
      ...(panes ? [panes] : []),
      ...views.map(each => viewPane(each)),
      ...this.#messages(part),
      problemLines(warnings, part.failure),
    ];
  }

  /** Returns the messages of a call; without any call all of them, since discovery shows why. */
  #messages({ exchange, events, messages }: CallPart): Section[] {
    const isWhole = this.#exchanges.length === 0 && !this.#isTool && this.#sessions.isEmpty;
    if (!exchange && !isWhole) return [];
    const isShown = (event: Event) => isWhole || !('purpose' in event && event.purpose === 'discovery');
    return [{ events: messages.filter(isShown), redactor: callbackRedactor(events) }];
  }

  /** Returns the output of `invoke -o json` or `session answer -o json`. */
  get report(): unknown {
    const malformed = this.#malformed.map(each => `malformed invocation, ${each}`);
    const notes = messagesOf([...malformed, ...this.faults, ...this.losses]);
    const [session, ...others] = this.#sessions.reports(notes);
    if (session) return others.length > 0 ? { sessions: [session, ...others] } : session;
    const [only, ...calls] = this.#parts;
    if (only && calls.length === 0) return this.#callReport(only, notes);
    return {
      calls: calls.map(part => this.#callReport(part)),
      summary: summaryOf(this.#exchanges),
      warnings: warningsOfAll(this.#log.history, notes),
    };
  }

  #callReport(part: CallPart, notes: readonly Warning[] = []) {
    const { history, exchange } = part;
    return invokeReport({ history, exchange, notes, trouble: part.failure }, this.supports);
  }

  get unanswered(): readonly number[] {
    if (this.#sessions.answers().length > 0) return [];
    const open = this.#exchanges.filter(exchange => answerOf(exchange, outcomeOf(exchange)) === null);
    return open.map(({ key }) => this.#calls.indexOf(key) + 1);
  }

  /** Returns the answers given to agent sessions for these calls; without sessions, the results of the calls. */
  answers(): SavedAnswer[] {
    const given = this.#sessions.answers();
    if (given.length > 0) return given;
    const trips = roundTripsIn(this.#log.events);
    return this.#exchanges.flatMap(exchange => {
      const answer = answerOf(exchange, outcomeOf(exchange));
      const body = answer?.native === undefined ? undefined : resultBody(exchange, trips);
      return answer ? [{ ...answer, ...(body && { source: () => body.text }) }] : [];
    });
  }
}

/** Returns the body of the message with the result: of a callback, or of the response over MCP. */
function resultBody(
  { settled, arrivals, attempts }: Exchange,
  trips: ReadonlyMap<string, RoundTrip>,
): Body | undefined {
  const callback = arrivals.find(({ verdict }) => verdict.kind === 'settles');
  if (settled?.by === 'result') return trips.get(callback?.leg ?? '')?.request.body;
  const answered = attempts.find(({ status }) => status === 200);
  return settled?.by === 'answer' ? trips.get(answered?.leg ?? '')?.response?.body : undefined;
}

/** Returns what happened from the tool's side. */
function toolTimelineOf(events: readonly Event[]): Line[] {
  const calls = new RecentCalls();
  return events.flatMap(event => {
    calls.apply(event);
    const news = newsOf(event, { call: calls.get(event.calls?.[0] ?? '')?.call });
    return news ? [timedLine(event.at, news)] : [];
  });
}

/** Returns the keys of the selected calls. @throws ProtocolCliError `usage` for an unknown call */
function selectedCalls(exchanges: readonly Exchange[], { call, failed = false }: CallSelection): string[] {
  const named = exchanges.filter(
    ({ key, invocation }, index) =>
      call === undefined || call === String(index + 1) || call === invocation.id || call === key,
  );
  if (call !== undefined && named.length === 0)
    throw usageError(
      `no call ${excerpt(call)} in the transcript`,
      exchanges.length === 0
        ? 'It has no calls.'
        : `It has ${pluralize(exchanges.length, 'call')}: use a number from 1, or an id.`,
    );
  const selected = failed ? named.filter(each => outcomeOf(each)?.type !== 'success') : named;
  return selected.map(({ key }) => key);
}
