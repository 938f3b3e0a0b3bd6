import { readAs } from '../../dialects/dialects.js';
import { answerOf } from '../../events/answer.js';
import { RecentCalls } from '../../events/bounded-events.js';
import { CallLog } from '../../events/call-log.js';
import type { Body, Event, RequestEvent } from '../../events/events.js';
import { type Exchange, outcomeOf } from '../../events/exchange.js';
import { History } from '../../events/history.js';
import { eventsOnSide, isBodyLost, roundTripsIn } from '../../events/round-trips.js';
import { type Session, Sessions } from '../../events/session-calls.js';
import { callbackRedactor } from '../../events/shareable.js';
import { isWhole, missingFrom, type Observer, type Transcript } from '../../events/transcript-reader.js';
import { readInvocation } from '../../protocol/invocation.js';
import type { Warning } from '../../protocol/requirements.js';
import { callHeading } from '../../render/callbacks.js';
import { failureOf, problemLines } from '../../render/failure.js';
import { clipped, type Line, line, pluralize, quote, say } from '../../render/line.js';
import { missingSteps } from '../../render/open-steps.js';
import { invokeReport } from '../../render/outputs/call-report.js';
import { summaryLines, summaryOf } from '../../render/outputs/repeats-summary.js';
import { sessionReport } from '../../render/outputs/session.js';
import { panesOf, viewPane } from '../../render/panes.js';
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
import { stepLine } from '../../render/step.js';
import { StepLog } from '../../render/step-log.js';
import { newsOf } from '../../render/tool-news.js';
import { mergeWarnings, warningsOf, warningsOfAll } from '../../render/warnings.js';
import { excerpt, firstWithRest, formatDuration, truncate } from '../../util/text.js';
import { usageError } from '../options.js';
import { type CallSelection, messagesOf, type Saved, type SavedAnswer, type Section } from './saved.js';

/** A transcript: its heading and timeline, then each call with its panes, its views and its problems. */
export class SavedTranscript implements Saved {
  readonly faults: readonly string[];
  readonly losses: readonly string[];
  readonly #log: CallLog;
  readonly #parts: readonly CallPart[];
  readonly #exchanges: readonly Exchange[];
  readonly #malformed: readonly string[];
  readonly #sessions = new Sessions(ALL);
  /** What happened in agent sessions. */
  readonly #sessionLines: Line[] = [];
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
    for (const event of eventsOnSide('tool-side', events)) {
      this.#log.apply(event);
      this.#addToSessions(event);
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

  #addToSessions(event: Event): void {
    this.#sessions.apply(event);
    if (event.kind === 'planned' || event.kind === 'dropped' || event.kind === 'warned') return; // these appear in the timeline of the calls
    const news = newsOf(event, { sessions: this.#sessions, history: this.#log.history });
    if (news) this.#sessionLines.push(timed(event.at, news));
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
      ...this.#sessionSections(),
      ...this.#parts.flatMap(part => this.#partSections(part)),
      exchanges.length > 1 ? summaryLines(summaryOf(exchanges)) : [],
      list('MALFORMED INVOCATIONS', this.#malformed),
      list('COULD NOT BE READ', this.faults),
      list('LOST', this.losses),
    ];
  }

  /** Returns the timeline, then each agent session with its calls. Calls of a RAP tool have their own part. */
  #sessionSections(): Section[] {
    if (this.#sessionLines.length === 0) return [];
    const now = this.#log.events.at(-1)?.at ?? 0;
    const parts = this.#sessions.list.flatMap(session => {
      const calls = knownCalls(session, this.#log.history);
      const ofOthers = calls
        .filter(({ exchange }) => !exchange)
        .map(known => [[say('CALL ', 'title'), ...callLine(known.call)], ...callBodies(known)]);
      return [sessionLines(session, calls, now), ...ofOthers, finalLines(session)];
    });
    const warnings = mergeWarnings(messagesOf(this.#sessions.warnings));
    return [this.#sessionLines, ...parts, problemLines(warnings)];
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
      problemLines(warnings, failureIn(part)),
    ];
  }

  /** Returns the messages of a call; without any call all of them, since discovery shows why. */
  #messages({ exchange, events, messages }: CallPart): Section[] {
    const isWhole = this.#exchanges.length === 0 && !this.#isTool && this.#sessionLines.length === 0;
    if (!exchange && !isWhole) return [];
    const isShown = (event: Event) => isWhole || !('purpose' in event && event.purpose === 'discovery');
    return [{ events: messages.filter(isShown), redactor: callbackRedactor(events) }];
  }

  /** Returns the output of `invoke -o json` or `session answer -o json`. */
  get report(): unknown {
    const malformed = this.#malformed.map(each => `malformed invocation, ${each}`);
    const notes = messagesOf([...malformed, ...this.faults, ...this.losses]);
    const [session, ...others] = this.#sessionReports(notes);
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
    return invokeReport({ history, exchange, notes, trouble: failureIn(part) }, this.supports);
  }

  #sessionReports(notes: readonly Warning[]) {
    const known = { sessions: this.#sessions, history: this.#log.history };
    return known.sessions.list.map(({ id }) =>
      sessionReport({ session: { id, url: urlOf(id, this.#log.events) }, known, notes, trouble: null }),
    );
  }

  /** Returns the answers given to agent sessions for these calls; without sessions, the results of the calls. */
  answers(): SavedAnswer[] {
    const known = this.#sessions.list.flatMap(session => knownCalls(session, this.#log.history));
    const settled = known.flatMap(sessionAnswer);
    if (settled.length > 0) return settled;
    const bodies = new Map<unknown, Body>();
    for (const event of this.#log.events) {
      const body = 'body' in event ? event.body : undefined;
      if (body?.json.ok) bodies.set(body.json.value, body); // each body is parsed once, so its value identifies it
    }
    return this.#exchanges.flatMap(exchange => {
      const answer = answerOf(exchange, outcomeOf(exchange));
      const body = answer?.native === undefined ? undefined : bodies.get(answer.native);
      return answer ? [{ ...answer, ...(body && { source: () => textOf(body) }) }] : [];
    });
  }
}

/** A part of a transcript, with its own history; if there are several, the first one holds what belongs to no call. */
class CallPart {
  readonly history: History;
  readonly timeline: readonly Line[];
  /** How many attempts are not shown. */
  readonly hidden: readonly Line[];
  /** The events of the messages to show. */
  readonly messages: readonly Event[];

  constructor(
    readonly events: readonly Event[],
    isWhole: boolean,
  ) {
    this.history = new History(isWhole);
    const log = new StepLog(this.history);
    for (const event of events) {
      this.history.apply(event);
      log.add(event);
    }
    const hidden = repeatedAttempts(events, this.exchange?.key);
    this.messages = events.filter(event => !('leg' in event && hidden.has(event.leg ?? '')));
    const steps = [...log.ended, ...missingSteps(this.history, events.at(-1)?.at ?? 0)];
    const shown = steps
      .toSorted((one, other) => one.at - other.at)
      .filter(({ leg }) => leg === undefined || !hidden.has(leg));
    this.timeline = shown.map(each => timed(each.at, stepLine(each)));
    const rest = `… ${hidden.size} attempts that ended like those around them are not shown`;
    this.hidden = hidden.size > 0 ? [[say(rest, 'dim')]] : [];
  }

  /** The call that the part is about, if any. */
  get exchange(): Exchange | undefined {
    return this.history.first;
  }
}

/** Up to this number, all attempts are shown. */
const MAX_ATTEMPTS = 10;

/** Returns the request ids of attempts that ended in the same way as those before and after them; empty for few attempts. */
function repeatedAttempts(events: readonly Event[], call: string | undefined): ReadonlySet<string> {
  const attempts = [...roundTripsIn(events).values()].filter(
    ({ request: { purpose, calls = [] } }) => purpose === 'invocation' && calls[0] === call,
  );
  if (call === undefined || attempts.length <= MAX_ATTEMPTS) return new Set();
  const ends = attempts.map(({ status, broken, request, response }) =>
    [status, broken?.code, request.body?.sha256, response?.body?.sha256].join(),
  );
  const isAlike = (at: number) => ends[at - 1] === ends[at] && ends[at + 1] === ends[at];
  return new Set(attempts.filter((_, at) => isAlike(at)).map(({ request }) => request.leg));
}

/** Returns a line with the time since the start in the margin. */
function timed(at: number, words: Line): Line {
  return [say(`${formatDuration(at).padStart(8)} `, 'gutter'), ...words];
}

/** Returns what happened from the tool's side. */
function toolTimelineOf(events: readonly Event[]): Line[] {
  const calls = new RecentCalls();
  return events.flatMap(event => {
    calls.apply(event);
    const news = newsOf(event, { call: calls.get(event.calls?.[0] ?? '')?.call });
    return news ? [timed(event.at, news)] : [];
  });
}

const SEEN_BY: Readonly<Record<Observer, string>> = {
  runtime: 'by a runtime',
  tool: 'by a tool',
  recorder: 'between a runtime and its tool',
  platform: 'by a platform of agent sessions',
  client: 'by a client of agent sessions',
};

/** Describes the size of a transcript, who recorded it, and whether it is incomplete. */
function transcriptHeading({ header, events, end }: Transcript, shown: number, calls: number): Line[] {
  const some = shown < calls ? `${shown} of ` : '';
  const counts = [...(calls > 0 ? [some + pluralize(calls, 'call')] : []), pluralize(events.length, 'event')];
  const heading = line`${say('TRANSCRIPT', 'title')} of ${counts.join(', ')}${endWords(end)}`;
  if (!header) return [heading, [say('recorded by an unknown program (no header)', 'warn')]];
  const { observer, program, startedAt } = header;
  const time = startedAt.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/, '$1 $2 UTC');
  return [heading, quote(`recorded ${SEEN_BY[observer]}, ${program}, ${time}`, 'dim')];
}

function endWords(end: string | null): Line {
  if (end === null) return [say('; incomplete (no end record)', 'warn')];
  return end === 'done' || end === 'saved' ? [] : [say('; ended with: ', 'warn'), ...quote(end, 'warn')];
}

/** Maximum number of malformed invocations listed, and maximum length of an error in characters. */
const [MAX_LISTED, MAX_LENGTH] = [20, 300];

/** Returns the malformed invocations of a transcript, which no call shows: the place, the error, and the answer. */
function malformedInvocations(events: readonly Event[], transcript: Transcript): readonly string[] {
  const found = [...roundTripsIn(events).values()].flatMap(({ request, status, broken }) => {
    const faults = faultsOf(request);
    if (faults.length === 0) return [];
    const why = broken ? ` (${broken.code})` : '';
    const end = status === null ? `not answered${why}` : `answered ${status}`;
    return [`${placeOf(request, transcript)}: ${truncate(faults.join('; '), MAX_LENGTH)}; ${end}`];
  });
  return firstWithRest(found, MAX_LISTED);
}

/** A body that was not kept may have been valid, and other protocols have their own invocations. */
function faultsOf(request: RequestEvent): readonly string[] {
  if (request.purpose !== 'invocation' || request.dialect !== undefined || isBodyLost(request)) return [];
  const reading = readInvocation(request.body?.json ?? { ok: false, reason: 'it has no body' });
  return reading.ok ? [] : reading.faults;
}

function placeOf({ seq, at }: RequestEvent, { events, lines }: Transcript): string {
  const number = lines?.[events.findIndex(event => event.seq === seq)];
  return number === undefined ? `after ${formatDuration(at)}` : `line ${number}`;
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

/** A file is finite, so everything in it is kept. */
const ALL = { calls: Infinity, bytes: Infinity, sessions: Infinity };

const failureIn = ({ history, exchange }: CallPart) =>
  exchange ? failureOf(exchange, history.untracked) : null;

const textOf = ({ bytes }: Body) => new TextDecoder().decode(bytes);

/** An `error_event` does not contain the kind of failure, so it is taken from the call. */
function sessionAnswer(known: KnownCall): SavedAnswer[] {
  const body = known.call.answer?.body;
  const reading = body?.json.ok ? readAs('session', body.json.value) : null;
  const given = receivedAnswer(known);
  if (!body || !given || !reading?.ok) return [];
  const answer = { ...reading.answer, outcome: given.outcome };
  return [{ ...reading, answer, source: () => textOf(body) }];
}

/** Returns the keys of the selected calls. @throws ProtocolCliError `usage` for an unknown call */
function selectedCalls(exchanges: readonly Exchange[], { call, failed = false }: CallSelection): string[] {
  const named = exchanges.filter(
    ({ key, invocation }, index) =>
      call === undefined || call === String(index + 1) || call === invocation.id || call === key,
  );
  if (named.length === 0)
    throw usageError(
      `no call ${excerpt(call ?? '')} in the transcript`,
      `It has ${exchanges.length} call${exchanges.length === 1 ? '' : 's'}: use a number from 1, or an id.`,
    );
  const selected = failed ? named.filter(each => outcomeOf(each)?.type !== 'success') : named;
  return selected.map(({ key }) => key);
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
