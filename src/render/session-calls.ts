import type { Content } from '../events/content.js';
import type { Event } from '../events/events.js';
import { acknowledgedAfter, type Exchange } from '../events/exchange.js';
import {
  type Session,
  type SessionCall,
  type SessionCallState,
  type SessionRequest,
  sessionCallState,
  statusOf,
} from '../events/session-calls.js';
import { isSettledStatus, isTerminal } from '../protocol/callbacks.js';
import type { JudgedOutcome } from '../protocol/outcome.js';
import { refusalIn } from '../protocol/session.js';
import { formatDuration } from '../util/format-duration.js';
import { compactJson, isRecord } from '../util/json-diagnosis.js';
import { prettyJson } from '../util/json-pretty.js';
import { createRedactor } from '../util/redact.js';
import { foreignWords } from '../util/redact-json.js';
import { clipped, type Line, runningClock, type Span, say, type Tone, textLines } from './line.js';
import { type Given, givenOf, type Known, type KnownCall, knownCall } from './session-answers.js';
import { elapsed, jsonLines, labelled } from './tool-call-details.js';
import { news, newsOf } from './tool-call-news.js';

const MOST = 500;

/** What a session came to: its error, its answer; nothing where it has neither. */
function finalWords({ error, answer }: Session): Line {
  return [
    ...(error === null ? [] : [say(': '), ...clipped(error, 'bad', MOST)]),
    ...(answer === null ? [] : [say(': '), ...clipped(foreignWords(answer.value), 'plain', MOST)]),
  ];
}

/** The answer of an agent whole, under a heading; nothing where it says nothing. */
export function finalLines({ answer }: Pick<Session, 'answer'>): Line[] {
  if (answer === null) return [];
  const text = foreignWords(answer.value);
  const { lines } = textLines(prettyJson(text) ?? text, Number.POSITIVE_INFINITY);
  return [[say('ANSWER', 'title')], ...lines];
}

/** What a platform says of a request that it refuses, after a colon; nothing where it says nothing. */
function refusalWords(body: Content | undefined): Line {
  const said = body?.json.ok ? refusalIn(body.json.value) : '';
  return said === '' ? [] : [say(': '), ...clipped(said)];
}

type EndEvent = Extract<Event, { kind: 'response' | 'broken' }>;

/** What became of a request of the session API; null where it only asked, and was told. */
function requestNews(event: EndEvent, request: SessionRequest): Line | null {
  return request.purpose === 'tool_results' ? postNews(event, request) : otherNews(event, request);
}

function postNews(event: EndEvent, request: SessionRequest): Line {
  const { attempt, at } = request;
  const which = attempt > 1 ? ` at attempt ${attempt}` : '';
  const what = resultsIn(event, request);
  const took = tookWords(event.at - at);
  if (event.kind === 'broken')
    return news(
      'warning',
      say(`${what} posted${which}, but `),
      ...clipped(event.code, 'warn'),
      took,
      say(': unknown whether they arrived', 'warn'),
    );
  const { status, body } = event;
  if (status >= 200 && status < 300)
    return news('done', say(`${what} posted${which}, answered ${status}`), took);
  if (status === 409)
    return news(
      'note',
      say(`${what} posted${which}, answered 409`, 'warn'),
      took,
      say(': the session had finished', 'warn'),
    );
  return news('failed', say(`${what} refused${which} with ${status}`, 'bad'), took, ...refusalWords(body));
}

function resultsIn(event: EndEvent, { calls = [] }: SessionRequest): string {
  const { size } = new Set([...calls, ...(event.calls ?? [])]);
  return size === 0 ? 'results' : size === 1 ? '1 result' : `${size} results`;
}

function otherNews(event: EndEvent, { method, url, at, attempt }: SessionRequest): Line | null {
  const which = attempt > 1 ? ` at attempt ${attempt}` : '';
  const what: Line = [...clipped(`${method} ${placeOf(url)}`), say(which)];
  const took = tookWords(event.at - at);
  if (event.kind === 'broken')
    return news('warning', ...what, say(' was not answered: '), ...clipped(event.code, 'warn'), took);
  const { status, body } = event;
  if (status >= 400)
    return news('failed', ...what, say(` answered ${status}`, 'bad'), took, ...refusalWords(body));
  return method === 'GET' ? null : news('note', ...what, say(` answered ${status}`), took);
}

function tookWords(milliseconds: number) {
  return say(` in ${formatDuration(Math.max(0, milliseconds))}`, 'dim');
}

/** A path within the API, without its query. */
function placeOf(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1);
  const [, place] = /\/api\/v2(\/.*)$/.exec(path) ?? [];
  return place ?? path;
}

/** Characters of arguments, and of what a model gets, that tell one call from another. */
const SHORT = 80;

/** Which call it is: its tool, its arguments in short, its id. */
export function callWords({ tool, args, id, key }: Pick<SessionCall, 'tool' | 'args' | 'id' | 'key'>): Line {
  const short = shortArgs(args);
  return [
    ...clipped(tool, 'title'),
    ...(short.length > 0 ? [say(' '), ...short] : []),
    say(' '),
    ...clipped(id === null ? `${key} (no id)` : key, 'dim'),
  ];
}

/** Arguments on one line; nothing where there are none. */
function shortArgs(args: unknown, tone: Tone = 'plain'): Line {
  if (args === undefined || args === null || (isRecord(args) && Object.keys(args).length === 0)) return [];
  return shortText(compactJson(args) ?? '', tone);
}

/** The beginning of a foreign text, on one line. */
function shortText(text: string, tone: Tone = 'plain'): Line {
  return clipped(text.length <= SHORT ? text : `${text.slice(0, SHORT).toWellFormed()}…`, tone);
}

const TONES: Readonly<Record<JudgedOutcome['type'], Tone>> = {
  success: 'good',
  error: 'bad',
  canceled: 'warn',
  timeout: 'warn',
  denied: 'warn',
  unknown: 'warn',
};

const BASES = {
  declared: '',
  convention: ' (by convention)',
  ours: ' (local)',
  assumed: '',
} as const satisfies Record<JudgedOutcome['basis'], string>;

/** The type of an outcome; where the wire did not declare it, what it is based on. */
export function outcomeWords(outcome: JudgedOutcome): Line {
  const { type, basis } = outcome;
  const from = basis === 'ours' ? localWords(outcome) : BASES[basis];
  return [say(type, TONES[type]), ...(from === '' ? [] : [say(from, 'dim')])];
}

function localWords(outcome: JudgedOutcome): string {
  if (outcome.type === 'canceled') return outcome.by === 'user' ? ' by you' : ' by protocol-cli';
  return outcome.type === 'timeout' ? ' (local limit)' : BASES.ours;
}

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
      return line ? newsLabelled(line, request.thread, known) : null;
    }
    case 'warned':
      return news('warning', ...clipped(event.message, 'warn', 2_000));
    case 'expired':
      return event.calls || event.what !== 'timeout'
        ? null
        : news('failed', say(`no news for ${formatDuration(event.afterMs)}`, 'bad'));
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
  return newsLabelled(news('received', say(`waits for ${count}`), ...named, ...more), thread, known);
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
  return newsLabelled(news(kind, ...callWords(found.call), say(does), ...words, took), thread, known);
}

/** Which session it is about, where there are several. */
function newsLabelled(line: Line, thread: string | undefined, { sessions }: Known): Line {
  if (thread === undefined || sessions.size < 2) return line;
  return [...line, say(' (', 'dim'), ...clipped(thread, 'dim'), say(')', 'dim')];
}

/** How a call stands: on the leg to its tool until it is answered, then on that to the platform. */
interface CallStanding {
  readonly mark: Span;
  readonly line: Line;
  /** Its clock goes on: what it says depends on the time. */
  readonly isRunning: boolean;
}

/** @param now ms since the start */
export function callStanding(known: KnownCall, now: number): CallStanding {
  const state = sessionCallState(known.session, known.call);
  if (state === 'pending') return pendingStanding(known, now);
  const given = givenOf(known);
  const words = given ? [...outcomeWords(given.outcome), say(', ', 'dim')] : [];
  const isUnexpected = (known.call.answer?.unexpected.length ?? 0) > 0;
  const unexpected = isUnexpected ? [say('unexpected answer', 'bad'), say(', ', 'dim')] : [];
  const line = [...words, ...unexpected, ...STATES[state](known)];
  const mark = isUnexpected ? say('✗', 'bad') : markOf(state, given);
  return { mark, line, isRunning: state === 'posting' };
}

const STATES: Readonly<Record<Exclude<SessionCallState, 'pending'>, (known: KnownCall) => Line>> = {
  answered: ({ call: { posts } }) => [say(posts > 0 ? 'to be posted again' : 'to be posted', 'running')],
  posting: ({ call: { posts } }) => [say(posts > 1 ? 'posting again' : 'posting', 'running')],
  taken: ({ call: { post, takenAt, askedAt } }) => {
    const took = takenAt === null ? [] : [say(` after ${formatDuration(takenAt - askedAt)}`, 'dim')];
    return [say(`posted${post?.status === undefined ? '' : ` ${post.status}`}`), ...took];
  },
  refused: ({ call: { post } }) => [say(`refused with ${post?.status ?? 'an error'}`, 'bad')],
  unwanted: () => [say('no longer pending', 'warn')],
  gone: () => [say('answered by another client', 'dim')],
};

function markOf(state: Exclude<SessionCallState, 'pending'>, given: Given | null): Span {
  switch (state) {
    case 'answered':
    case 'posting':
      return say('…', 'running');
    case 'refused':
      return say('✗', 'bad');
    case 'taken':
      return given === null || given.outcome.type === 'success' ? say('✓', 'good') : say('✗', 'bad');
    default:
      return say('•', 'dim');
  }
}

function pendingStanding({ call, exchange }: KnownCall, now: number): CallStanding {
  const since = runningClock(now - call.askedAt);
  if (exchange?.waitingFor)
    return { mark: say('?', 'warn'), line: [say('asks you', 'warn'), since], isRunning: true };
  const line = exchange ? legLine(exchange) : [say('pending', 'running')];
  return { mark: say('…', 'running'), line: [...line, since], isRunning: true };
}

function legLine(exchange: Exchange): Line {
  const { attempts, settled } = exchange;
  const last = attempts.at(-1);
  if (settled) return [say('result', 'running')];
  const acknowledged = acknowledgedAfter(exchange);
  if (acknowledged !== null) return [say(`acknowledged after ${formatDuration(acknowledged)},`, 'running')];
  if (last?.endedAt === undefined) return [say('invoked', 'running')];
  return [say('not acknowledged: ', 'warn'), ...clipped(last.broken?.code ?? String(last.status), 'warn')];
}

/** One call of a session in a list, cell by cell. */
export interface SessionCallRow {
  readonly mark: Span;
  readonly cells: Readonly<Record<SessionColumn | 'state', Line>>;
  readonly isRunning: boolean;
}

export type SessionColumn = 'time' | 'session' | 'tool' | 'args' | 'id';

/** @param now ms since the start */
export function sessionCallRow(known: KnownCall, now: number, isSelected = false): SessionCallRow {
  const { session, call } = known;
  const { mark, line, isRunning } = callStanding(known, now);
  return {
    mark,
    isRunning,
    cells: {
      time: [say(elapsed(call.askedAt).padStart(7), 'dim')],
      session: clipped(session.id, 'dim'),
      tool: clipped(call.tool, isSelected ? 'title' : 'plain'),
      args: shortArgs(call.args, 'dim'),
      id: clipped(call.key, 'dim'),
      state: line,
    },
  };
}

/** Neither leg has secrets in its bodies. */
const NO_SECRETS = createRedactor();

/** How a call of a session was asked, and how it stands on its legs. @param now ms since the start */
export function callHead(known: KnownCall, now: number): Line[] {
  const { session, call, exchange } = known;
  const given = givenOf(known);
  return [
    [...clipped(call.tool, 'title'), say(' '), ...clipped(call.key)],
    labelled('session', ...clipped(session.id)),
    ...(call.id === null ? [labelled('id', say('null (identified by tool and arguments)', 'dim'))] : []),
    labelled('asked', say(`at ${elapsed(call.askedAt)} in round ${call.round + 1}`)),
    ...(exchange ? [labelled('invoked', ...invoked(exchange))] : []),
    ...(given ? [labelled('outcome', ...outcomeWords(given.outcome))] : []),
    labelled('state', ...callStanding(known, now).line),
    ...(call.answer?.unexpected ?? []).map(words =>
      labelled('expected', say('✗ ', 'bad'), ...clipped(words, 'bad')),
    ),
    ...call.warnings.map(words => labelled('warning', ...clipped(words, 'warn'))),
    ...(call.posts > 1 ? [labelled('posted', say(`${call.posts} times`))] : []),
  ];
}

/** Its arguments, and what the model gets. Depends on nothing but the call. */
export function callBodies(known: KnownCall): Line[] {
  const given = givenOf(known);
  return [
    [],
    [say('ARGUMENTS', 'title')],
    ...jsonLines(compactJson(known.call.args) ?? 'none', NO_SECRETS),
    ...(given ? [[], [say('LLM', 'title')], ...jsonLines(given.text ?? '(not kept)', NO_SECRETS)] : []),
  ];
}

function invoked(exchange: Exchange): Line {
  const after = acknowledgedAfter(exchange);
  const [first] = exchange.attempts;
  if (!first) return [say('not sent', 'warn')];
  const at = say(`at ${elapsed(first.sentAt)}`);
  return after === null ? [at] : [at, say(`, acknowledged after ${formatDuration(after)}`, 'dim')];
}
