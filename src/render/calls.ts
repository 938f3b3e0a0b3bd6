import { acknowledgedAfter, type Exchange, isSubscribed, outcomeOf } from '../events/exchange.js';
import type { CallLog } from '../events/history.js';
import type { JudgedOutcome } from '../protocol/outcome.js';
import { onceEach } from '../util/collections.js';
import { prettyJson } from '../util/json-format.js';
import type { Redactor } from '../util/redact.js';
import { compactJson } from '../util/values.js';
import {
  clipped,
  counted,
  elapsed,
  jsonLine,
  type Line,
  line,
  MARKS,
  runningClock,
  type Span,
  say,
  type Tone,
  textLines,
  took,
} from './line.js';

/** The state of a call, in a few words. */
export interface CallState {
  readonly mark: Span;
  readonly line: Line;
  /** The words depend on the time. */
  readonly isRunning: boolean;
}

/** A call as a row of a list, cell by cell. All times are ms since the start. */
export interface CallView<Column extends string> extends Omit<CallState, 'line'> {
  readonly cells: Readonly<Record<Column | 'state', Line>>;
}

export function viewOf<Column extends string>(
  { line: state, ...rest }: CallState,
  cells: Readonly<Record<Column, Line>>,
): CallView<Column> {
  return { ...rest, cells: { ...cells, state } };
}

export function timeCell(at: number): Line {
  return [say(elapsed(at).padStart(7), 'dim')];
}

/** The first digits of a UUID are enough to tell ids apart. */
export function idCell(id: string): Line {
  return clipped(id.replace(/([\da-f]{8})-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/, '$1'), 'dim');
}

/** Characters of arguments, and of what a model gets, that distinguish calls. */
const SHORT = 80;

const argsTexts = new WeakMap<object, string>();

/** Arguments on one line. They may be large: their text is made once. */
export function argsCell(args: Readonly<Record<string, unknown>>, redactor?: Redactor): Line {
  const known = argsTexts.get(args);
  const json = known ?? (Object.keys(args).length === 0 ? '' : (compactJson(args) ?? ''));
  const text = known ?? (redactor?.text(json) ?? json).slice(0, 2 * SHORT).toWellFormed();
  argsTexts.set(args, text);
  return shortText(text, 'dim');
}

/** The beginning of a foreign text, on one line. */
export function shortText(text: string, tone: Tone = 'plain'): Line {
  return clipped(text.length <= SHORT ? text : `${text.slice(0, SHORT).toWellFormed()}…`, tone);
}

/** Lines of one message. */
const MAX_LINES = 500;

/** A text that may be JSON, which is indented, and stays so where a line is wrapped. */
export function jsonLines(text: string): Line[] {
  const pretty = prettyJson(text);
  const { lines, total } = textLines(pretty ?? text, MAX_LINES);
  const more = total - lines.length;
  const indented = lines.map((each): Line => {
    const [first, ...rest] = pretty === null ? each : jsonLine(each);
    const [indent = ''] = /^ */.exec(first?.text ?? '') ?? [];
    if (!first || indent === '') return each;
    return [say(indent, 'gutter'), { ...first, text: first.text.slice(indent.length) }, ...rest];
  });
  return more > 0 ? [...indented, [say(`… ${more} more lines`, 'dim')]] : indented;
}

const TONES: Readonly<Record<JudgedOutcome['type'], Tone>> = {
  success: 'good',
  error: 'bad',
  canceled: 'warn',
  timeout: 'warn',
  denied: 'warn',
  unknown: 'warn',
};

/** The type of an outcome and, where the wire did not declare it, what it is based on. */
export function outcomeWords(outcome: JudgedOutcome): Line {
  const basis = basisOf(outcome);
  return [say(outcome.type, TONES[outcome.type]), ...(basis === '' ? [] : [say(basis, 'dim')])];
}

function basisOf(outcome: JudgedOutcome): string {
  if (outcome.basis === 'convention') return ' (by convention)';
  if (outcome.basis !== 'ours') return '';
  if (outcome.type === 'canceled') return outcome.by === 'user' ? ' by you' : ' by protocol-cli';
  return outcome.type === 'timeout' ? ' (local limit)' : ' (local)';
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
    const end = outcome?.type === 'success' ? MARKS.done : MARKS.failed;
    return {
      mark: isSubscribed(exchange) ? MARKS.running : end,
      line: line`${outcome && outcomeWords(outcome)}${took(settled.at - begunAt)}${eventCount(exchange)}`,
      isRunning: false,
    };
  }
  const asks = waitingFor?.type === 'oauth' ? 'asks for consent' : 'asks for a choice';
  return {
    mark: waitingFor ? MARKS.asking : MARKS.running,
    line: line`${waitingFor ? say(asks, 'warn') : dispatchWords(exchange)}${runningClock(now - begunAt)}`,
    isRunning: true,
  };
}

/** The text that an outcome is read from may be large. */
const outcomeOnce = onceEach(outcomeOf);

function dispatchWords(exchange: Exchange): Line {
  const last = exchange.attempts.at(-1);
  if (!last) return [say('expected', 'running')];
  if (acknowledgedAfter(exchange) !== null) return [say('acknowledged', 'running')];
  return last.endedAt === undefined ? [say('sent', 'running')] : notAcknowledged(last);
}

export function notAcknowledged({ broken, status }: Exchange['attempts'][number]): Line {
  return [say('not acknowledged: ', 'warn'), ...clipped(broken?.code ?? String(status), 'warn')];
}

const ENDED_BY = { final: null, cancel: ', canceled', close: ', closed' } as const;

/** The events of a subscription: `, 12 events so far`, and how it ended where the tool sent no final one. */
export function eventCount({ subscription }: Exchange): Line {
  if (!subscription) return [];
  const { events, ended } = subscription;
  const count = `, ${counted(events, 'event')}`;
  if (!ended) return [say(`${count} so far`, 'running')];
  const end = ENDED_BY[ended.by];
  return [say(count, 'dim'), ...(end === null ? [] : [say(end, 'warn')])];
}
