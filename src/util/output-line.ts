import { randomUUID } from 'node:crypto';
import { exactJson } from './exact-json.js';
import type { Redactor } from './redact.js';
import { redactJson } from './redact-json.js';
import { escapeCharacters, safeSource } from './safe-json.js';
import { piecesOf } from './text.js';

/** A line of output; a long one is produced in pieces at the reader's speed. */
export type OutputLine = string | LongLine;

/** A long line, in pieces that are created as they are read. */
export interface LongLine extends Iterable<string> {
  /** Approximate length, in characters. */
  readonly length: number;
}

/** Minimum length of a long string, in characters. */
const LONG = 1024 * 1024;

/** Unguessable placeholder for a long string. */
const PLACEHOLDER = randomUUID();

/** A `#` near the end of a piece; a workflow command must not be split. */
const HASH_AT_END = /#(?=.{0,11}$)/gsu;

/** As {@link safeJson}, but long strings are escaped in pieces while the line is written. */
export function safeJsonLine(value: unknown, redactor?: Redactor): OutputLine {
  const long: string[] = [];
  const replace = (member: unknown) => {
    if (typeof member !== 'string' || member.length <= LONG) return member;
    long.push(member);
    return PLACEHOLDER;
  };
  const json = exactJson(value, { replace });
  const safe = safeSource(json);
  const line = redactor ? redactJson(safe, redactor) : safe;
  if (long.length === 0) return line;
  const length = long.reduce((sum, text) => sum + text.length, line.length);
  return { length, [Symbol.iterator]: () => longLine(line.split(PLACEHOLDER), long, redactor) };
}

function* longLine([first = '', ...rest]: readonly string[], long: readonly string[], redactor?: Redactor) {
  yield first;
  for (const [at, text] of long.entries()) {
    yield* escapedPieces(redactor?.text(text) ?? text);
    yield rest[at] ?? '';
  }
}

function* escapedPieces(text: string): Generator<string> {
  for (const piece of piecesOf(text))
    yield safeSource(JSON.stringify(piece).slice(1, -1)).replace(HASH_AT_END, escapeCharacters);
}
