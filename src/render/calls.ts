import type { Exchange } from '../events/exchange.js';
import type { JudgedOutcome } from '../protocol/outcome.js';
import { prettyJson } from '../util/json-text.js';
import type { Redactor } from '../util/redact.js';
import { truncate } from '../util/text.js';
import { compactJson } from '../util/values.js';
import { clipped, elapsed, jsonLine, type Line, type Span, say, type Tone, textLines } from './line.js';

export interface CallState {
  readonly mark: Span;
  readonly line: Line;
  /** The text changes as time passes. */
  readonly isRunning: boolean;
}

/** A row of the list of calls. All times are in ms since the start. */
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

/** Shortens a UUID: its first digits are enough to distinguish calls. */
export function shortId(id: string): string {
  return id.replace(/([\da-f]{8})-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/, '$1');
}

export function idCell(id: string): Line {
  return clipped(shortId(id), 'dim');
}

/** Maximum length of arguments and results in a row, in characters. */
const SHORT = 80;

const argsTexts = new WeakMap<object, string>();

/** Arguments on one line. Cached, since they may be large. */
export function argsCell(args: unknown, redactor?: Redactor, tone: Tone = 'dim'): Line {
  if (typeof args !== 'object' || args === null)
    return clipped(truncate(compactJson(args ?? undefined) ?? '', SHORT), tone);
  const known = argsTexts.get(args);
  const json = known ?? (Object.keys(args).length === 0 ? '' : (compactJson(args) ?? ''));
  const text = known ?? (redactor?.text(json) ?? json).slice(0, 2 * SHORT).toWellFormed();
  argsTexts.set(args, text);
  return clipped(truncate(text, SHORT), tone);
}

/** Maximum number of lines per message. */
const MAX_LINES = 500;

/** Pretty-prints JSON, with hanging indents where lines wrap; other text is unchanged. */
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

/** The type of an outcome and, unless it was declared in the message, what it is based on. */
export function outcomeLine(outcome: JudgedOutcome): Line {
  const basis = basisOf(outcome);
  return [say(outcome.type, TONES[outcome.type]), ...(basis === '' ? [] : [say(basis, 'dim')])];
}

/** The basis of an outcome that a runtime decided, such as a timeout. */
const NOT_FROM_THE_TOOL = 'not from the tool';

function basisOf(outcome: JudgedOutcome): string {
  if (outcome.basis === 'convention') return ' (by convention)';
  if (outcome.basis !== 'ours') return '';
  if (outcome.type === 'canceled') return outcome.by === 'user' ? ' by you' : ' by protocol-cli';
  return ` (${NOT_FROM_THE_TOOL})`;
}

/** The basis of an outcome; an unknown basis is shown unchanged. */
export function basisLine(basis: string): string {
  return { convention: 'by convention', ours: NOT_FROM_THE_TOOL }[basis] ?? basis;
}

/** The code of a broken request; a mock breaks some on purpose. */
export function breakReason(code: string): string {
  return code === 'PLANNED' ? 'broken off as the mock planned it' : code;
}

export function notAcknowledged({ broken, status }: Exchange['attempts'][number]): Line {
  return [
    say('not acknowledged: ', 'warn'),
    ...clipped(broken ? breakReason(broken.code) : String(status), 'warn'),
  ];
}
