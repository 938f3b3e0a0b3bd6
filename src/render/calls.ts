import type { CallLog } from '../events/call-log.js';
import type { Event } from '../events/events.js';
import { acknowledgedAfter, type Exchange, isSubscribed, outcomeOf } from '../events/exchange.js';
import { type SessionCallState, sessionCallState } from '../events/session-calls.js';
import { urlSecrets } from '../events/shareable.js';
import {
  type CallbackDelivery,
  type DeliveryAttempt,
  isDelivered,
  type ToolCall,
  type ToolCallState,
  toolCallState,
  typeOfDelivery,
} from '../events/tool-call.js';
import type { JudgedOutcome } from '../protocol/outcome.js';
import { onceEach } from '../util/collections.js';
import type { Redactor } from '../util/redact.js';
import { formatDuration } from '../util/text.js';
import { compactJson, isRecord } from '../util/values.js';
import {
  clipped,
  counted,
  elapsed,
  type Line,
  line,
  quote,
  runningClock,
  type Span,
  say,
  type Tone,
  took,
} from './line.js';
import { givenOf, type KnownCall } from './session-answers.js';

/** The state of a call, in a few words. */
interface CallState {
  readonly mark: Span;
  readonly line: Line;
  /** The words depend on the time. */
  readonly isRunning: boolean;
}

/** A call as a row of a list, cell by cell. All times are ms since the start. */
export interface CallView<Column extends string> extends Omit<CallState, 'line'> {
  readonly cells: Readonly<Record<Column | 'state', Line>>;
}

const RUNNING = say('…', 'running');

const ASKING = say('?', 'warn');

const DONE = say('✓', 'good');

const FAILED = say('✗', 'bad');

const QUIET = say('•', 'dim');

function viewOf<Column extends string>(
  { line: state, ...rest }: CallState,
  cells: Readonly<Record<Column, Line>>,
): CallView<Column> {
  return { ...rest, cells: { ...cells, state } };
}

function running(words: Line, since: number, mark = RUNNING): CallState {
  return { mark, line: [...words, runningClock(since)], isRunning: true };
}

function timeCell(at: number): Line {
  return [say(elapsed(at).padStart(7), 'dim')];
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

/** The type of an outcome and, where the wire did not declare it, what it is based on. */
export function outcomeWords(outcome: JudgedOutcome): Line {
  const basis = basisOf(outcome);
  return [say(outcome.type, TONES[outcome.type]), ...(basis === '' ? [] : [say(basis, 'dim')])];
}

function basisOf(outcome: JudgedOutcome): string {
  if (outcome.basis !== 'ours') return BASES[outcome.basis];
  if (outcome.type === 'canceled') return outcome.by === 'user' ? ' by you' : ' by protocol-cli';
  return outcome.type === 'timeout' ? ' (local limit)' : BASES.ours;
}

export type ExchangeColumn = 'time' | 'operation' | 'args' | 'server' | 'id' | 'thread';

/**
 * A call that we made.
 * @param book that the exchange is in
 * @param server that was called, where there are several
 */
export function exchangeRow(
  exchange: Exchange,
  now: number,
  book: CallLog,
  server = '',
  redactor?: Redactor,
): CallView<ExchangeColumn> {
  const { operation, arguments: args, id, group_id } = exchange.invocation;
  // A call that is expected, or denied, was never sent.
  const begunAt = exchange.attempts[0]?.sentAt ?? book.of(exchange.key)[0]?.at ?? 0;
  return viewOf(exchangeState(exchange, begunAt, now), {
    time: timeCell(begunAt),
    operation: clipped(operation),
    args: argsCell(args, redactor),
    server: clipped(server, 'dim'),
    id: idCell(id),
    thread: idCell(group_id),
  });
}

function exchangeState(exchange: Exchange, begunAt: number, now: number): CallState {
  const { settled, waitingFor } = exchange;
  if (settled) {
    const outcome = outcomeOnce(exchange);
    const end = outcome?.type === 'success' ? DONE : FAILED;
    return {
      mark: isSubscribed(exchange) ? RUNNING : end,
      line: line`${outcome && outcomeWords(outcome)}${took(settled.at - begunAt)}${eventCount(exchange)}`,
      isRunning: false,
    };
  }
  if (!waitingFor) return running(dispatchWords(exchange), now - begunAt);
  const what = waitingFor.type === 'oauth' ? 'asks for consent' : 'asks for a choice';
  return running([say(what, 'warn')], now - begunAt, ASKING);
}

/** The text that an outcome is read from may be large. */
const outcomeOnce = onceEach(outcomeOf);

function dispatchWords(exchange: Exchange): Line {
  const last = exchange.attempts.at(-1);
  if (!last) return [say('expected', 'running')];
  if (acknowledgedAfter(exchange) !== null) return [say('acknowledged', 'running')];
  return last.endedAt === undefined ? [say('sent', 'running')] : notAcknowledged(last);
}

function notAcknowledged({ broken, status }: Exchange['attempts'][number]): Line {
  return [say('not acknowledged: ', 'warn'), ...clipped(broken?.code ?? String(status), 'warn')];
}

const ENDED_BY = { final: null, cancel: ', canceled', close: ', closed' } as const;

/** The events of a subscription: `, 12 events so far`, and how it ended where the tool sent no final one. */
export function eventCount({ subscription }: Pick<Exchange, 'subscription'>): Line {
  if (!subscription) return [];
  const { events, ended } = subscription;
  const count = `, ${counted(events, 'event')}`;
  if (!ended) return [say(`${count} so far`, 'running')];
  const end = ENDED_BY[ended.by];
  return [say(count, 'dim'), ...(end === null ? [] : [say(end, 'warn')])];
}

/** The secrets of a call: a callback URL lets one speak for the tool, a response URL for the user. */
export function secretsOf({ addressee, deliveries }: ToolCall): Redactor {
  if (!addressee) return urlSecrets([]);
  const { callback_url, id, group_id, call_id } = addressee;
  // The URL of a consent page is for the user, and stays.
  const responseUrls = deliveries.flatMap(({ body }) => {
    const { response_url } = body?.json.ok && isRecord(body.json.value) ? body.json.value : {};
    return typeof response_url === 'string' ? [response_url] : [];
  });
  return urlSecrets([callback_url, ...responseUrls], [id, group_id, call_id ?? '']);
}

/** The name of a call: its operation, its id, its thread. */
export function callName({ invocation, addressee }: ToolCall): Line {
  const { id = '', group_id = '' } = addressee ?? {};
  return [
    ...(invocation ? clipped(invocation.operation, 'title') : [say('a call', 'title')]),
    ...(id ? line` ${id}` : []),
    ...(group_id ? [say(' (', 'dim'), ...clipped(group_id, 'dim'), say(')', 'dim')] : []),
  ];
}

/** The fixture or handler that answers a call, or why none does; nothing where that is not known yet. */
export function answeredBy({ answeredBy, plans, warnings }: ToolCall): Line {
  if (answeredBy !== null) return quote(answeredBy);
  if (plans.includes('rate-limit')) return [say('over the rate limit', 'warn')];
  if (plans.some(plan => plan.startsWith('ack '))) return [say('a fault', 'warn')];
  return warnings.length > 0 ? [say('no fixture', 'warn')] : [];
}

/** What went wrong with an attempt to deliver a callback. */
export function faultOf({ status, broken = 'broken' }: DeliveryAttempt): string {
  return status === undefined ? broken : `answered ${status}`;
}

export function isTaken(status = 0): boolean {
  return status >= 200 && status < 300;
}

export type CallColumn = 'time' | 'operation' | 'args' | 'id' | 'thread' | 'answeredBy';

/** A call that a mock received. @param isPaused deliveries are held back */
export function callRow(
  call: ToolCall,
  now: number,
  isSelected = false,
  isPaused = false,
): CallView<CallColumn> {
  const { id = '', group_id = '' } = call.addressee ?? {};
  const { invocation } = call;
  return viewOf(toolState(call, now, isPaused), {
    time: timeCell(call.receivedAt),
    operation: invocation
      ? clipped(invocation.operation, isSelected ? 'title' : 'plain')
      : [say('malformed', 'bad')],
    args: invocation ? argsCell(invocation.arguments, secretsOf(call)) : [],
    id: idCell(id),
    thread: idCell(group_id),
    answeredBy: answeredBy(call),
  });
}

const TOOL_MARKS: Readonly<Record<ToolCallState, Span>> = {
  waiting: RUNNING,
  asking: ASKING,
  delivered: DONE,
  undelivered: FAILED,
  silent: QUIET,
  refused: FAILED,
};

const TOOL_STATES: Readonly<Record<ToolCallState, (call: ToolCall) => Line>> = {
  waiting({ deliveries, isCancelled }) {
    const attempts = deliveries.at(-1)?.attempts ?? [];
    const failed = attempts.findLast(({ endedAt, status }) => endedAt !== undefined && !isTaken(status));
    if (failed) return [say(`retrying, ${faultOf(failed)}`, 'warn')];
    return [say(isCancelled ? 'canceled' : 'waiting', 'running')];
  },
  asking({ deliveries }) {
    const last = deliveries.at(-1);
    return [say(last && typeOfDelivery(last) === 'oauth' ? 'asks for consent' : 'asks for a choice', 'warn')];
  },
  delivered({ deliveries, receivedAt }) {
    const result = deliveries.find(each => isDelivered(each) && typeOfDelivery(each) === 'tool_result');
    const endedAt = result?.attempts.find(({ status }) => isTaken(status))?.endedAt ?? receivedAt;
    return line`delivered${took(endedAt - receivedAt)}`;
  },
  undelivered: call => clipped(secretsOf(call).text(call.lost ?? 'not delivered'), 'bad'),
  silent: () => [say('no result (planned)', 'dim')],
  refused: ({ acknowledgement: { status } }) => [say(`refused with ${status}`, 'bad')],
};

function toolState(call: ToolCall, now: number, isPaused: boolean): CallState {
  const notes = notesOn(call).map(note => say(`, ${note}`, 'dim'));
  if (call.awaits === 'fire')
    return { mark: ASKING, isRunning: false, line: [say('waiting: press e to send', 'warn'), ...notes] };
  const state = toolCallState(call);
  const isDone = state === 'delivered';
  const isUnanswered = isDone && isUnmatched(call);
  const isLate = isDone && call.lost !== null;
  const isHeld = state === 'waiting' && isPaused;
  const words = line`${isUnanswered && say('no fixture, ', 'warn')}${isHeld ? say('held', 'warn') : TOOL_STATES[state](call)}${isLate && say(', a later one failed', 'bad')}${notes}`;
  const mark = isUnanswered || isLate ? say('!', 'warn') : TOOL_MARKS[state];
  const isRunning = state === 'waiting' || state === 'asking';
  if (!isRunning || isHeld) return { mark, isRunning, line: words };
  // A question is timed from when it was asked.
  const askedAt = state === 'asking' ? call.deliveries.at(-1)?.attempts[0]?.at : undefined;
  return running(words, now - (askedAt ?? call.receivedAt), mark);
}

/** A delivered answer that only says that no fixture matches. */
function isUnmatched({ invocation, answeredBy, plans, warnings }: ToolCall): boolean {
  return invocation !== null && answeredBy === null && plans.length === 0 && warnings.length > 0;
}

function notesOn(call: ToolCall): string[] {
  const { arrivals, isCancelled, deliveries, forgotten } = call;
  const attempts = Math.max(0, ...deliveries.map(delivery => delivery.attempts.length));
  const isEvent = (each: CallbackDelivery) =>
    typeOfDelivery(each) === 'subscription_event' && isDelivered(each);
  const events = deliveries.filter(isEvent).length + forgotten;
  return [
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(events > 0 ? [counted(events, 'event')] : []),
    ...(arrivals > 1 ? [`received ${arrivals}×`] : []),
    ...(isCancelled && toolCallState(call) !== 'waiting' ? ['canceled'] : []),
  ];
}

/** The last question of a call. Foreign words; empty where there was none. */
export function questionOf(call: ToolCall | undefined) {
  const isQuestion = (each: CallbackDelivery) =>
    ['user_choice', 'oauth'].includes(typeOfDelivery(each) ?? '');
  const json = call?.deliveries.findLast(isQuestion)?.body?.json;
  const message: Readonly<Record<string, unknown>> = json?.ok && isRecord(json.value) ? json.value : {};
  const textOf = (name: string) => (typeof message[name] === 'string' ? message[name] : '');
  return {
    choices: Array.isArray(message['choices']) ? message['choices'].map(String) : [],
    /** Index of the choice that counts where the user picks none. */
    preset: Number(message['default'] ?? 0),
    responseUrl: textOf('response_url'),
    authUrl: textOf('auth_url'),
  };
}

/** What was decided and by whom; a choice is shown by its label. */
export function decisionWords(
  { what, value = '', by }: Extract<Event, { kind: 'decided' }>,
  call?: ToolCall,
): Line {
  const label = what === 'choice' ? (questionOf(call).choices[Number(value)] ?? value) : value;
  // A mock has no policy: firing a call by hand gives the preset answer.
  const who = by === 'policy' ? 'sent manually' : `by a ${by}`;
  return line`${what} ${clipped(String(label), 'title')} ${say(who, 'dim')}`;
}

export type SessionColumn = 'time' | 'session' | 'tool' | 'args' | 'id';

/** A call of an agent session. */
export function sessionCallRow(known: KnownCall, now: number, isSelected = false): CallView<SessionColumn> {
  const { session, call } = known;
  return viewOf(sessionState(known, now), {
    time: timeCell(call.askedAt),
    session: clipped(session.id, 'dim'),
    tool: clipped(call.tool, isSelected ? 'title' : 'plain'),
    args: shortArgs(call.args, 'dim'),
    id: idCell(call.key),
  });
}

/** Characters of arguments, and of what a model gets, that distinguish calls. */
const SHORT = 80;

/** Arguments on one line. */
export function shortArgs(args: unknown, tone: Tone = 'plain'): Line {
  if (args === undefined || args === null || (isRecord(args) && Object.keys(args).length === 0)) return [];
  return shortText(compactJson(args) ?? '', tone);
}

const argsTexts = new WeakMap<object, string>();

/** Arguments on one line. They may be large: their text is made once. */
function argsCell(args: Readonly<Record<string, unknown>>, redactor?: Redactor): Line {
  const known = argsTexts.get(args);
  const json = known ?? (Object.keys(args).length === 0 ? '' : (compactJson(args) ?? ''));
  const text = known ?? (redactor?.text(json) ?? json).slice(0, 2 * SHORT).toWellFormed();
  argsTexts.set(args, text);
  return shortText(text, 'dim');
}

/** The first digits of a UUID are enough to tell ids apart. */
function idCell(id: string): Line {
  return clipped(id.replace(/([\da-f]{8})-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/, '$1'), 'dim');
}

/** The beginning of a foreign text, on one line. */
export function shortText(text: string, tone: Tone = 'plain'): Line {
  return clipped(text.length <= SHORT ? text : `${text.slice(0, SHORT).toWellFormed()}…`, tone);
}

type AnsweredState = Exclude<SessionCallState, 'pending'>;

/** The mark is null where the outcome decides it. */
const SESSION_STATES: Readonly<
  Record<AnsweredState, { mark: Span | null; words: (known: KnownCall) => Line }>
> = {
  answered: {
    mark: RUNNING,
    words: ({ call }) => [say(call.posts > 0 ? 'to be posted again' : 'to be posted', 'running')],
  },
  posting: {
    mark: RUNNING,
    words: ({ call }) => [say(call.posts > 1 ? 'posting again' : 'posting', 'running')],
  },
  taken: {
    mark: null,
    words: ({ call: { post, takenAt, askedAt } }) =>
      line`posted${post?.status === undefined ? null : ` ${post.status}`}${takenAt !== null && took(takenAt - askedAt)}`,
  },
  refused: {
    mark: FAILED,
    words: ({ call: { post } }) => [say(`refused with ${post?.status ?? 'an error'}`, 'bad')],
  },
  unwanted: { mark: QUIET, words: () => [say('no longer pending', 'warn')] },
  gone: { mark: QUIET, words: () => [say('answered by another client', 'dim')] },
};

/** The state of a session's call: at its tool until it is answered, then at the platform. */
export function sessionState(known: KnownCall, now: number): CallState {
  const { call, exchange } = known;
  const state = sessionCallState(known.session, call);
  if (state === 'pending') {
    const isAsking = exchange?.waitingFor;
    const words = isAsking
      ? [say('asks you', 'warn')]
      : exchange
        ? invokedWords(exchange)
        : [say('pending', 'running')];
    return running(words, now - call.askedAt, isAsking ? ASKING : RUNNING);
  }
  const given = givenOf(known);
  const isUnexpected = (call.answer?.unexpected.length ?? 0) > 0;
  const { mark, words } = SESSION_STATES[state];
  const end = given === null || given.outcome.type === 'success' ? DONE : FAILED;
  const comma = say(', ', 'dim');
  return {
    mark: isUnexpected ? FAILED : (mark ?? end),
    line: [
      ...(given ? [...outcomeWords(given.outcome), comma] : []),
      ...(isUnexpected ? [say('unexpected answer', 'bad'), comma] : []),
      ...words(known),
    ],
    isRunning: state === 'posting',
  };
}

function invokedWords(exchange: Exchange): Line {
  const last = exchange.attempts.at(-1);
  if (exchange.settled) return [say('result', 'running')];
  const after = acknowledgedAfter(exchange);
  if (after !== null) return [say(`acknowledged after ${formatDuration(after)},`, 'running')];
  return last?.endedAt === undefined ? [say('invoked', 'running')] : notAcknowledged(last);
}
