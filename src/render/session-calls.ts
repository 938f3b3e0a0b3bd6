import { sessionDialect } from '../dialects/session.js';
import type { Body } from '../events/events.js';
import { acknowledgedAfter, type Exchange, outcomeOf } from '../events/exchange.js';
import type { History } from '../events/history.js';
import {
  type Session,
  type SessionCall,
  type SessionCallState,
  type Sessions,
  sessionCallState,
  statusOf,
} from '../events/session-calls.js';
import type { JudgedOutcome } from '../protocol/outcome.js';
import { isSettledStatus } from '../protocol/session.js';
import { memoizeByObject } from '../util/collections.js';
import { prettyJson } from '../util/json-text.js';
import { formatDuration } from '../util/text.js';
import { compactJson, stringOrJson } from '../util/values.js';
import {
  argsCell,
  type CallState,
  idCell,
  jsonLines,
  notAcknowledged,
  outcomeLine,
  timeCell,
  viewOf,
} from './calls.js';
import {
  clipped,
  elapsed,
  type Line,
  labelled,
  line,
  MARKS,
  type Mark,
  pluralize,
  runningClock,
  say,
  textLines,
  took,
  withMark,
} from './line.js';

/* Calls of agent sessions at the platform, and the tool calls made for them: list rows, and details of a call. */

/** State built from all events so far, if sessions are known at all. */
export interface KnownSessions {
  readonly sessions?: Sessions | undefined;
  /** The calls to RAP tools. They have the same keys as the session's calls. */
  readonly history?: History | undefined;
}

/** A call of a session and, if a tool was invoked for it, that invocation. */
export interface KnownCall {
  readonly session: Session;
  readonly call: SessionCall;
  readonly exchange?: Exchange;
}

export function knownCall({ sessions, history }: KnownSessions, id = '', key = ''): KnownCall | undefined {
  const session = sessions?.get(id);
  const call = session?.calls.get(key);
  return session && call && withExchange(session, call, history);
}

/** All calls of a session, in the order of the agent's requests. */
export function knownCalls(session: Session, history?: History): KnownCall[] {
  return [...session.calls.values()].map(call => withExchange(session, call, history));
}

function withExchange(session: Session, call: SessionCall, history: History | undefined): KnownCall {
  const exchange = history?.exchanges.get(call.key);
  return { session, call, ...(exchange && { exchange }) };
}

/** The result that the agent receives for a call. */
interface ReceivedAnswer {
  readonly outcome: JudgedOutcome;
  /** The text that the model receives; null if unknown. */
  readonly text: string | null;
}

/**
 * How a call was answered; null if it was not. An `error_event` does not name the kind of failure, and a `tool_result` does not tell
 * whether success was assumed: the invocation of the tool does, if there is one.
 */
export function receivedAnswer({ call, exchange }: KnownCall): ReceivedAnswer | null {
  if (!call.answer) return null;
  const answer = call.answer.body ? readOnce(call.answer.body) : UNREAD;
  const known = exchange ? outcomeOf(exchange) : call.ours;
  // The message only distinguishes success from failure.
  const isConsistent = known && answer.outcome.type === (known.type === 'success' ? 'success' : 'error');
  return isConsistent ? { ...answer, outcome: known } : answer;
}

const UNREAD: ReceivedAnswer = { outcome: { type: 'unknown', raw: null, basis: 'assumed' }, text: null };

/** Cached: a body may have 5 MiB. */
const readOnce = memoizeByObject(({ json }: Body): ReceivedAnswer => {
  if (!json.ok) return UNREAD;
  const reading = sessionDialect.read(json.value);
  if (!reading.ok) return { ...UNREAD, text: compactJson(json.value) };
  return { outcome: reading.answer.outcome, text: reading.text };
});

export function sessionCallRow(known: KnownCall, now: number, isSelected = false) {
  const { session, call } = known;
  return viewOf(sessionState(known, now), {
    time: timeCell(call.askedAt),
    session: clipped(session.id, 'dim'),
    tool: clipped(call.tool, isSelected ? 'title' : 'plain'),
    args: argsCell(call.args),
    id: idCell(call.key),
  });
}

/** The state of an answered call. A null mark means that the outcome decides it. */
const STATES: Readonly<
  Record<Exclude<SessionCallState, 'pending'>, readonly [Mark | null, (call: SessionCall) => Line]>
> = {
  answered: ['running', ({ posts }) => [say(posts > 0 ? 'to be posted again' : 'to be posted', 'running')]],
  posting: ['running', ({ posts }) => [say(posts > 1 ? 'posting again' : 'posting', 'running')]],
  taken: [
    null,
    ({ post, takenAt, askedAt }) =>
      line`posted${post?.status === undefined ? null : ` ${post.status}`}${takenAt !== null && took(takenAt - askedAt)}`,
  ],
  refused: ['failed', ({ post }) => [say(`refused with ${post?.status ?? 'an error'}`, 'bad')]],
  unwanted: ['aside', () => [say('no longer pending', 'warn')]],
  gone: ['aside', () => [say('answered by another client', 'dim')]],
};

/** The state of a call: at its tool until the tool answers, then at the platform. */
export function sessionState(known: KnownCall, now: number): CallState {
  const { call, exchange, session } = known;
  const state = sessionCallState(session, call);
  if (state === 'pending')
    return {
      mark: exchange?.waitingFor ? MARKS.asking : MARKS.running,
      line: line`${pendingWords(exchange)}${runningClock(now - call.askedAt)}`,
      isRunning: true,
    };
  const answer = receivedAnswer(known);
  const isUnexpected = (call.answer?.unexpected.length ?? 0) > 0;
  const [mark, wordsOf] = STATES[state];
  const end = answer === null || answer.outcome.type === 'success' ? 'done' : 'failed';
  const comma = say(', ', 'dim');
  return {
    mark: MARKS[isUnexpected ? 'failed' : (mark ?? end)],
    line: [
      ...(answer ? [...outcomeLine(answer.outcome), comma] : []),
      ...(isUnexpected ? [say('unexpected answer', 'bad'), comma] : []),
      ...wordsOf(call),
    ],
    isRunning: state === 'posting',
  };
}

function pendingWords(exchange: Exchange | undefined): Line {
  if (!exchange) return [say('pending', 'running')];
  if (exchange.waitingFor) return [say('asks you', 'warn')];
  if (exchange.settled) return [say('result', 'running')];
  const after = acknowledgedAfter(exchange);
  if (after !== null) return [say(`acknowledged after ${formatDuration(after)},`, 'running')];
  const last = exchange.attempts.at(-1);
  return last?.endedAt === undefined ? [say('invoked', 'running')] : notAcknowledged(last);
}

/** A session's call: its tool, its shortened arguments, its id. */
export function callLine({ tool, args, id, key }: SessionCall): Line {
  const short = argsCell(args, undefined, 'plain');
  const name = clipped(id === null ? `${key} (no id)` : key, 'dim');
  return line`${clipped(tool, 'title')}${short.length > 0 && line` ${short}`} ${name}`;
}

/** The ids of a call, and its state at the tool and at the platform. @param now ms since the start */
export function callHead(known: KnownCall, now: number): Line[] {
  const { session, call, exchange } = known;
  const answer = receivedAnswer(known);
  return [
    line`${clipped(call.tool, 'title')} ${call.key}`,
    labelled('session', ...clipped(session.id)),
    ...(call.id === null ? [labelled('id', say('null (identified by tool and arguments)', 'dim'))] : []),
    labelled('asked', say(`at ${elapsed(call.askedAt)} in round ${call.round + 1}`)),
    ...(exchange ? [labelled('invoked', ...invoked(exchange))] : []),
    ...(answer ? [labelled('outcome', ...outcomeLine(answer.outcome))] : []),
    labelled('state', ...sessionState(known, now).line),
    ...(call.answer?.unexpected ?? []).map(words =>
      labelled('expected', ...withMark('failed', clipped(words, 'bad'))),
    ),
    ...call.warnings.map(words => labelled('warning', ...clipped(words, 'warn'))),
    ...(call.posts > 1 ? [labelled('posted', say(`${call.posts} times`))] : []),
  ];
}

function invoked(exchange: Exchange): Line {
  const after = acknowledgedAfter(exchange);
  const [first] = exchange.attempts;
  if (!first) return [say('not sent', 'warn')];
  return line`at ${elapsed(first.sentAt)}${after !== null && say(`, acknowledged after ${formatDuration(after)}`, 'dim')}`;
}

/** The arguments of a call, and the text that the model receives. */
export function callBodies(known: KnownCall): Line[] {
  const answer = receivedAnswer(known);
  return [
    [],
    [say('ARGUMENTS', 'title')],
    ...jsonLines(compactJson(known.call.args) ?? 'none'),
    ...(answer ? [[], [say('LLM', 'title')], ...jsonLines(answer.text ?? '(not kept)')] : []),
  ];
}

/** The whole answer of an agent under a heading; empty without an answer. */
export function finalLines({ answer }: Pick<Session, 'answer'>): Line[] {
  if (answer === null) return [];
  const text = stringOrJson(answer.value);
  return [[say('ANSWER', 'title')], ...textLines(prettyJson(text) ?? text, Number.POSITIVE_INFINITY).lines];
}

/** The state of a session: its status and duration, its rounds, its calls. @param now ms since the start */
export function sessionHead(session: Session, now: number): Line {
  const { rounds, calls, forgotten, beganAt } = session;
  const status = statusOf(session) ?? 'no status yet';
  const isOver = isSettledStatus(status);
  const mark = MARKS[isWell(session) ? 'done' : isOver ? 'failed' : 'running'];
  const at = session.status?.at ?? beganAt;
  // Whole seconds: a session may run for hours.
  const running = Math.max(0, Math.floor((now - at) / 1_000) * 1_000);
  const time = isOver ? ` after ${formatDuration(at - beganAt)}` : ` ${formatDuration(running)}`;
  const taken = [...calls.values()].filter(call => sessionCallState(session, call) === 'taken').length;
  const ofRounds = rounds > 0 ? ` · ${isOver ? pluralize(rounds, 'round') : `round ${rounds}`}` : '';
  const ofCalls = ` · ${taken + forgotten} of ${calls.size + forgotten} calls answered`;
  return line`${mark} ${clipped(status, mark.tone, 60)}${say(time, 'dim')}${say(ofRounds + ofCalls, 'dim')}`;
}

/** Whether a session ended, or pauses, without an error. */
export function isWell(session: Session): boolean {
  const status = statusOf(session);
  return session.error === null && (status === 'completed' || status === 'idle');
}
