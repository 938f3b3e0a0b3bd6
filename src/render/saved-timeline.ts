import { isBodyLost } from '../check/call.js';
import { RecentCalls } from '../events/bounded-events.js';
import type { Event, RequestEvent } from '../events/events.js';
import type { Exchange } from '../events/exchange.js';
import { History, Owners } from '../events/history.js';
import type { TranscriptHeader } from '../events/log.js';
import { type Session, Sessions } from '../events/session-calls.js';
import type { Transcript } from '../events/transcript-reader.js';
import { readInvocation } from '../protocol/read-invocation.js';
import { cut, firstOf, formatDuration } from '../util/text.js';
import { callBodies } from './call-details.js';
import { sessionState } from './calls.js';
import { clipped, counted, type Line, line, quote, say, took } from './line.js';
import { callWords, newsOf, sessionNews } from './news.js';
import { sessionHead } from './outputs/session.js';
import type { KnownCall } from './session-answers.js';
import { arrivalStep, type Step, step, stepLine } from './step-arrivals.js';
import { basisWords, labelledSteps, newStepsOf, stepsOf } from './steps.js';
import { recordedAnswer } from './warnings.js';

/** Malformed invocations that are listed, and characters of what is wrong with one. */
const MOST = 20;

const LONGEST = 300;

/**
 * The malformed invocations of a transcript, which no call shows: where each is, what is wrong with it, and its answer.
 * @param events those of the transcript that are shown
 */
export function malformedInvocations(events: readonly Event[], transcript: Transcript): readonly string[] {
  const found = events.flatMap(event => {
    const faults = event.kind === 'request' ? faultsOf(event) : [];
    if (event.kind !== 'request' || faults.length === 0) return [];
    return [`${placeOf(event, transcript)}: ${cut(faults.join('; '), LONGEST)}; ${endOf(event, events)}`];
  });
  return firstOf(found, MOST);
}

/** A body that was not kept may have been right, and other wires have invocations of their own. */
function faultsOf(request: RequestEvent): readonly string[] {
  if (request.purpose !== 'invocation' || request.dialect !== undefined || isBodyLost(request)) return [];
  const reading = readInvocation(request.body?.json ?? { ok: false, reason: 'it has no body' });
  return reading.ok ? [] : reading.faults;
}

function placeOf({ seq, at }: RequestEvent, { events, lines }: Transcript): string {
  const number = lines?.[events.findIndex(event => event.seq === seq)];
  return number === undefined ? `after ${formatDuration(at)}` : `line ${number}`;
}

function endOf({ leg }: RequestEvent, events: readonly Event[]): string {
  for (const event of events) {
    if (event.kind === 'response' && event.leg === leg) return `answered ${event.status}`;
    if (event.kind === 'broken' && event.leg === leg) return `not answered (${event.code})`;
  }
  return 'not answered';
}

const SEEN_BY: Readonly<Record<TranscriptHeader['observer'], string>> = {
  runtime: 'by a runtime',
  tool: 'by a tool',
  recorder: 'between a runtime and its tool',
  platform: 'by a platform of agent sessions',
  client: 'by a client of agent sessions',
};

/** How much a transcript holds, who recorded it, and that it is incomplete. */
export function transcriptHeading({ header, events, end }: Transcript, calls: number): Line[] {
  const counts = [...(calls > 0 ? [counted(calls, 'call')] : []), counted(events.length, 'event')];
  const heading = line`${say('TRANSCRIPT', 'title')} of ${counts.join(', ')}${endWords(end)}`;
  if (!header) return [heading, [say('recorded by an unknown program (no header)', 'warn')]];
  const { observer, program, startedAt } = header;
  const about = `recorded ${SEEN_BY[observer]}, ${program}, ${readableTime(startedAt)}`;
  return [heading, quote(about, 'dim')];
}

function endWords(end: string | null): Line {
  if (end === null) return [say('; incomplete (no end record)', 'warn')];
  return end === 'done' || end === 'saved' ? [] : [say('; ended with: ', 'warn'), ...quote(end, 'warn')];
}

/** RFC 3339 with spaces; anything else is shown unchanged. */
function readableTime(time: string): string {
  return time.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/, '$1 $2 UTC');
}

/** A part of a recording, with a history of its own. */
export interface Chapter {
  readonly history: History;
  /** The call that it is about, if it is about one. */
  readonly exchange: Exchange | undefined;
  readonly events: readonly Event[];
  /** All of them: the history forgets the first of very many. */
  readonly steps: readonly Step[];
}

/**
 * A recording as a whole and in chapters: what belongs to no call, then each call. A single call has everything.
 * @param isWhole nothing of what was recorded is lost
 */
export function chronicleOf(
  events: readonly Event[],
  isWhole = true,
): { readonly whole: History; readonly chapters: readonly Chapter[] } {
  const all = new ChapterWriter(isWhole);
  for (const event of events) all.add(event);
  const whole = all.history;
  if (whole.exchanges.size <= 1) return { whole, chapters: [all.chapter()] };
  const keys = [null, ...whole.exchanges.keys()];
  const parts = new Map(keys.map(key => [key, new ChapterWriter(isWhole)]));
  const owners = new Owners(whole);
  for (const event of events) for (const key of owners.of(event)) parts.get(key)?.add(event);
  return { whole, chapters: [...parts.values()].map(part => part.chapter()) };
}

class ChapterWriter {
  readonly history: History;
  readonly #steps: Step[] = [];
  readonly #events: Event[] = [];

  constructor(isWhole: boolean) {
    this.history = new History(isWhole);
  }

  add(event: Event): void {
    this.history.apply(event);
    this.#events.push(event);
    for (const each of newStepsOf(this.history, event)) this.#steps.push(each);
    if (event.kind === 'response' || event.kind === 'broken') this.#showAnswer(event);
  }

  /** The step of a callback is there already when the recorded answer to it arrives. */
  #showAnswer({ leg, calls: [key = ''] = [] }: Extract<Event, { kind: 'response' | 'broken' }>): void {
    const exchange = this.history.exchanges.get(key);
    const arrival = exchange?.arrivals.findLast(each => each.leg === leg);
    if (!exchange || !arrival || recordedAnswer(arrival) === null) return;
    const index = this.#steps.findLastIndex(each => each.key === `arrival:${leg}`);
    const told = arrivalStep(exchange, arrival, exchange.subscription?.events ?? 0);
    if (index >= 0) this.#steps.splice(index, 1, ...labelledSteps(this.history, key, [told]));
  }

  chapter(): Chapter {
    const running = stepsOf(this.history, { latest: 1 }).filter(({ state }) => state === 'running');
    const steps = [...this.#steps, ...running].toSorted((one, other) => one.at - other.at);
    return { history: this.history, exchange: this.history.first, events: this.#events, steps };
  }
}

/** A line with the time since the start in the margin. */
function timed(at: number, words: Line): Line {
  return [say(`${formatDuration(at).padStart(8)} `, 'gutter'), ...words];
}

/** What happened, step by step. */
export function timelineOf({ steps }: Chapter): Line[] {
  return steps.map(each => timed(each.at, stepLine(each)));
}

/** The same as the tool saw it. */
export function toolTimelineOf(events: readonly Event[]): Line[] {
  const calls = new RecentCalls();
  return events.flatMap(event => {
    calls.apply(event);
    const news = newsOf(event, calls.get(event.calls?.[0] ?? ''));
    return news ? [timed(event.at, news)] : [];
  });
}

/** The members of the object of `invoke -o json` that its steps are made of. */
interface ReportedCall {
  readonly invocation?: { readonly operation: string } | undefined;
  readonly endpoint?: string | undefined;
  readonly acknowledgement?: { readonly status: number; readonly ms: number } | null | undefined;
  readonly outcome?: { readonly type: string; readonly basis?: string | undefined } | null | undefined;
  readonly callbacks?: readonly ReportedCallback[] | undefined;
}

interface ReportedCallback {
  readonly type: string | null;
  readonly ms: number;
  readonly verdict: string;
  /** Null where a recorded runtime did not answer. */
  readonly status: number | null;
  /** Where a recorded runtime did not answer as this program would. */
  readonly ourStatus?: number | undefined;
  readonly reason?: string | undefined;
  /** Of an event. */
  readonly text?: string | undefined;
}

/** The steps of a reported call; times count from its first request. */
export function reportLines({
  invocation,
  endpoint = '',
  acknowledgement,
  outcome,
  callbacks = [],
}: ReportedCall): Line[] {
  const lines: Line[] = [];
  const add = (state: Step['state'], words: Line) => lines.push(stepLine(step('', 0, state, words)));
  if (invocation) {
    const where = endpoint !== '' && line` to ${quote(endpoint)}`;
    add('done', line`sent ${quote(invocation.operation, 'title')}${where}`);
  }
  if (acknowledgement) {
    const { status, ms } = acknowledgement;
    if (status === 200) add('done', line`acknowledged with 200${took(ms)}`);
    else add('failed', line`answered ${status} instead of 200${took(ms)}`);
  }
  for (const callback of callbacks) {
    const [state, words] = callbackWords(callback);
    add(state, words);
  }
  if (outcome && outcome.type !== 'success') {
    const basis = outcome.basis !== undefined && line` (${quote(basisWords(outcome.basis))})`;
    add('failed', line`outcome ${quote(outcome.type)}${basis}`);
  }
  return lines;
}

function callbackWords(callback: ReportedCallback): readonly [Step['state'], Line] {
  const { type, ms, verdict, status, ourStatus = status, reason, text } = callback;
  if (verdict === 'settles') return ['done', line`result${took(ms)}`];
  const isOurs = status !== null && ourStatus === status;
  const words = reason ?? text;
  const why = words !== undefined && line`: ${quote(words)}`;
  const answered = status === null ? '; the runtime did not answer' : `; the runtime answered ${status}`;
  const told = line`${quote(type ?? 'callback', 'title')} ${quote(verdict)}${isOurs && ` with ${status}`}${why}${!isOurs && answered}${took(ms)}`;
  return [ourStatus === 200 ? 'note' : 'failed', told];
}

/** A file ends: everything in it is kept. */
const ALL = {
  calls: Number.POSITIVE_INFINITY,
  bytes: Number.POSITIVE_INFINITY,
  sessions: Number.POSITIVE_INFINITY,
};

/** The agent sessions of a file, and what happened in them. @param history of the same events */
export function sessionTimelineOf(
  events: readonly Event[],
  history: History,
): { readonly sessions: Sessions; readonly lines: readonly Line[] } {
  const sessions = new Sessions(ALL);
  const lines = events.flatMap(event => {
    sessions.apply(event);
    // The timeline of the calls has these.
    if (event.kind === 'planned' || event.kind === 'dropped' || event.kind === 'warned') return [];
    const news = sessionNews(event, { sessions, history });
    return news ? [timed(event.at, news)] : [];
  });
  return { sessions, lines };
}

/** A session of a file: its state at the end, and its calls. @param now ms since the start, of the last event */
export function sessionLines(session: Session, calls: readonly KnownCall[], now: number): Line[] {
  return [
    line`${say('SESSION ', 'title')}${clipped(session.id, 'title')}  ${sessionHead(session, now)}`,
    ...calls.map(known => {
      const { mark, line: state } = sessionState(known, now);
      return line`${mark} ${callWords(known.call)}${say('  ', 'gutter')}${state}`;
    }),
  ];
}

/** A call of a session: its arguments, and what the model gets. */
export function sessionCallLines(known: KnownCall): Line[] {
  return [[say('CALL ', 'title'), ...callWords(known.call)], ...callBodies(known)];
}
