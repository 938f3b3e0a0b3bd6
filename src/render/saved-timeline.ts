import { isBodyLost } from '../check/call.js';
import { RecentCalls } from '../events/bounded-events.js';
import type { Event, RequestEvent } from '../events/events.js';
import type { Exchange } from '../events/exchange.js';
import { History, Owners } from '../events/history.js';
import type { TranscriptHeader } from '../events/log.js';
import { type Session, Sessions } from '../events/session-calls.js';
import type { Transcript } from '../events/transcript-reader.js';
import { readInvocation } from '../protocol/read-invocation.js';
import { formatDuration } from '../util/format-duration.js';
import { cut } from '../util/json-diagnosis.js';
import { callBodies } from './call-details.js';
import { sessionState } from './calls.js';
import { basisWords } from './given-up.js';
import { clipped, type Line, quote, say } from './line.js';
import { callWords, newsOf, sessionNews } from './news.js';
import { sessionHead } from './outputs/session.js';
import type { KnownCall } from './session-answers.js';
import { after, arrivalStep, type Step, step } from './step-arrivals.js';
import { labelled, newStepsOf, stepLine, stepsOf } from './steps.js';
import { recordedAnswer } from './warnings.js';

/** Told of one transcript; whoever wants the others reads its lines. */
const MOST = 20;
/** Characters of what is wrong with one. */
const LONGEST = 300;

/**
 * The invocations that are none, of which no call is shown: where each is, what is wrong with it and how it was answered.
 * @param events those that are shown of the transcript
 */
export function malformedInvocations(events: readonly Event[], transcript: Transcript): readonly string[] {
  const faulty = events.flatMap(event => {
    const faults = event.kind === 'request' ? faultsOf(event) : [];
    return event.kind === 'request' && faults.length > 0 ? [{ request: event, faults }] : [];
  });
  const told = faulty.slice(0, MOST).map(({ request, faults }) => {
    const what = cut(faults.join('; '), LONGEST);
    return `${placeOf(request, transcript)}: ${what}; ${endOf(request, events)}`;
  });
  const rest = faulty.length - told.length;
  return rest > 0 ? [...told, `and ${rest} more`] : told;
}

/** What was not kept may have been well-formed, and another wire has invocations of its own. */
function faultsOf(request: RequestEvent): readonly string[] {
  if (request.purpose !== 'invocation' || request.dialect !== undefined || isBodyLost(request)) return [];
  const reading = readInvocation(request.body?.json ?? { ok: false, reason: 'it has no body' });
  return reading.ok ? [] : reading.faults;
}

function placeOf({ seq, at }: RequestEvent, { events, lines }: Transcript): string {
  const line = lines?.[events.findIndex(event => event.seq === seq)];
  return line === undefined ? `after ${formatDuration(at)}` : `line ${line}`;
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

/** How much a transcript holds, and who saw it; that it does not end as it was meant to. */
export function transcriptHeading({ header, events, end }: Transcript, calls: number): Line[] {
  const counts = [...(calls > 0 ? [counted(calls, 'call')] : []), counted(events.length, 'event')];
  const heading: Line = [say('TRANSCRIPT', 'title'), say(` of ${counts.join(', ')}`), ...endWords(end)];
  return [heading, header ? sightLine(header) : [say('recorded by an unknown program (no header)', 'warn')]];
}

function endWords(end: string | null): Line {
  if (end === null) return [say('; incomplete (no end record)', 'warn')];
  return end === 'done' || end === 'saved' ? [] : [say('; ended with: ', 'warn'), ...quote(end, 'warn')];
}

function sightLine({ observer, program, startedAt }: TranscriptHeader): Line {
  return [
    say(`recorded ${SEEN_BY[observer]}, `, 'dim'),
    ...quote(program, 'dim'),
    say(', ', 'dim'),
    ...quote(momentOf(startedAt), 'dim'),
  ];
}

/** RFC 3339 for the eye, where it is what a transcript says. */
function momentOf(startedAt: string): string {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/.exec(startedAt) ?? [];
  return day === undefined ? startedAt : `${day} ${time} UTC`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** A part of what was recorded, with a history of its own. */
export interface Chapter {
  readonly history: History;
  /** The call that it tells of; undefined where it is about none. */
  readonly exchange: Exchange | undefined;
  readonly events: readonly Event[];
  /** All of them: a history itself forgets, where there are very many. */
  readonly steps: readonly Step[];
}

/** All that was recorded, and the same in parts. */
interface Chronicle {
  readonly whole: History;
  readonly chapters: readonly Chapter[];
}

/**
 * What belongs to no call first, then each call by itself; a single call has all there is.
 * @param isWhole whether nothing of what was recorded is lost
 */
export function chronicleOf(events: readonly Event[], isWhole = true): Chronicle {
  const all = new Telling(isWhole);
  for (const event of events) all.take(event);
  const whole = all.history;
  if (whole.exchanges.size <= 1) return { whole, chapters: [all.chapter()] };
  const parts = new Map<string | null, Telling>([[null, new Telling(isWhole)]]);
  for (const key of whole.exchanges.keys()) parts.set(key, new Telling(isWhole));
  const owners = new Owners(whole);
  for (const event of events) for (const key of owners.of(event)) parts.get(key)?.take(event);
  return { whole, chapters: [...parts.values()].map(part => part.chapter()) };
}

/** Takes events one by one, and notes what each brought to an end. */
class Telling {
  readonly history: History;
  readonly #steps: Step[] = [];
  readonly #events: Event[] = [];

  constructor(isWhole: boolean) {
    this.history = new History(isWhole);
  }

  take(event: Event): void {
    this.history.apply(event);
    this.#events.push(event);
    for (const step of newStepsOf(this.history, event)) this.#steps.push(step);
    if (event.kind === 'response' || event.kind === 'broken') this.#showAnswer(event);
  }

  /** A recorded runtime may have answered a callback otherwise than this program would: its step is there already. */
  #showAnswer({ leg, calls: [key = ''] = [] }: Extract<Event, { kind: 'response' | 'broken' }>): void {
    const exchange = this.history.exchanges.get(key);
    const arrival = exchange?.arrivals.findLast(each => each.leg === leg);
    if (!exchange || !arrival || recordedAnswer(arrival) === null) return;
    const index = this.#steps.findLastIndex(step => step.key === `arrival:${leg}`);
    if (index < 0) return;
    const told = arrivalStep(exchange, arrival, exchange.subscription?.events ?? 0);
    this.#steps.splice(index, 1, ...labelled(this.history, key, [told]));
  }

  chapter(): Chapter {
    const running = stepsOf(this.history, { latest: 1 }).filter(({ state }) => state === 'running');
    const steps = [...this.#steps, ...running].toSorted((one, other) => one.at - other.at);
    return { history: this.history, exchange: this.history.first, events: this.#events, steps };
  }
}

const MARGIN = 8;

/** What happened, step by step, each with the time since the start in the margin. */
export function timelineOf({ steps }: Chapter): Line[] {
  return steps.map(step => [margin(step.at), ...stepLine(step)]);
}

/** The same as the tool saw it. */
export function toolTimelineOf(events: readonly Event[]): Line[] {
  const calls = new RecentCalls();
  return events.flatMap(event => {
    calls.apply(event);
    const news = newsOf(event, calls.get(event.calls?.[0] ?? ''));
    return news ? [[margin(event.at), ...news]] : [];
  });
}

function margin(at: number) {
  return say(`${formatDuration(at).padStart(MARGIN)} `, 'gutter');
}

/** As much of the object of `invoke -o json` as its steps are told from. */
export interface ReportedCall {
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
  /** Where a recorded runtime answered otherwise than this program would. */
  readonly ourStatus?: number | undefined;
  readonly reason?: string | undefined;
  /** Of an event. */
  readonly text?: string | undefined;
}

/** What a report tells of its call, step by step; times count from its first request. */
export function reportLines(call: ReportedCall): Line[] {
  return reportSteps(call).map(each => stepLine(each));
}

function reportSteps({
  invocation,
  endpoint,
  acknowledgement,
  outcome,
  callbacks = [],
}: ReportedCall): Step[] {
  const ended = outcome && outcome.type !== 'success' ? [outcomeStep(outcome)] : [];
  return [
    ...(invocation ? [sentStep(invocation.operation, endpoint)] : []),
    ...(acknowledgement ? [answerStep(acknowledgement)] : []),
    ...callbacks.map(callbackStep),
    ...ended,
  ];
}

function sentStep(operation: string, endpoint = ''): Step {
  const where = endpoint === '' ? [] : [say(' to '), ...quote(endpoint)];
  return step('sent', 0, 'done', say('sent '), ...quote(operation, 'title'), ...where);
}

function answerStep({ status, ms }: NonNullable<ReportedCall['acknowledgement']>): Step {
  if (status === 200) return step('answer', ms, 'done', say('acknowledged with 200'), after(ms));
  return step('answer', ms, 'failed', say(`answered ${status} instead of 200`), after(ms));
}

function callbackStep(callback: ReportedCallback, index: number): Step {
  const { type, ms, verdict, status, ourStatus = status, reason, text } = callback;
  const what = quote(type ?? 'callback', 'title');
  const words = reason ?? text;
  const why = words === undefined ? [] : [say(': '), ...quote(words)];
  if (verdict === 'settles') return step(`callback:${index}`, ms, 'done', say('result'), after(ms));
  const isOurs = status !== null && ourStatus === status;
  const answer = isOurs
    ? []
    : [say(status === null ? '; the runtime did not answer' : `; the runtime answered ${status}`)];
  const told = [
    ...what,
    say(' '),
    ...quote(verdict),
    ...(isOurs ? [say(` with ${status}`)] : []),
    ...why,
    ...answer,
  ];
  const state = ourStatus === 200 ? 'note' : 'failed';
  return step(`callback:${index}`, ms, state, ...told, after(ms));
}

function outcomeStep({ type, basis }: NonNullable<ReportedCall['outcome']>): Step {
  const by = basis === undefined ? [] : [say(' ('), ...quote(basisWords(basis)), say(')')];
  return step('outcome', 0, 'failed', say('outcome '), ...quote(type), ...by);
}

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
const SESSION_TIMELINE_MARGIN = 8;

/** @param history of the same events: what it knows of an answer, its line says too */
export function sessionTimelineOf(events: readonly Event[], history: History): SessionTimeline {
  const sessions = new Sessions(ALL);
  const lines = events.flatMap(event => {
    sessions.apply(event);
    const line = isOfSessions(event) ? sessionNews(event, { sessions, history }) : null;
    return line
      ? [[say(`${formatDuration(event.at).padStart(SESSION_TIMELINE_MARGIN)} `, 'gutter'), ...line]]
      : [];
  });
  return { sessions, lines };
}

/** What else there is in a file has a story of its own. */
function isOfSessions({ kind }: Event): boolean {
  return kind !== 'planned' && kind !== 'dropped' && kind !== 'warned';
}

/** A session of a file: how it stood at the end, and each of its calls in a line. @param now ms since the start, of the last event */
export function sessionLines(session: Session, calls: readonly KnownCall[], now: number): Line[] {
  return [
    [say('SESSION ', 'title'), ...clipped(session.id, 'title'), say('  '), ...sessionHead(session, now)],
    ...calls.map(known => {
      const { mark, line } = sessionState(known, now);
      return [mark, say(' '), ...callWords(known.call), say('  ', 'gutter'), ...line];
    }),
  ];
}

/** A call by itself: what it was asked with, and what the model gets. */
export function sessionCallLines({ call, ...known }: KnownCall): Line[] {
  return [[say('CALL ', 'title'), ...callWords(call)], ...callBodies({ call, ...known })];
}
