import { randomUUID } from 'node:crypto';
import { scanJson } from './json-scan.js';
import type { Redactor } from './redact.js';
import { piecesOf } from './text.js';

/** Invisible characters, and the `#` before a CI workflow command (`##[error]`, `##vso[`, `##teamcity[`). */
const UNSAFE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|#(?<=##)(?=(?:[Vv][Ss][Oo]|[Tt][Ee][Aa][Mm][Cc][Ii][Tt][Yy])?\[)/gu;

/**
 * JSON that is safe on a terminal and in a CI log: characters that `JSON.stringify` leaves raw (C1, DEL, bidi, invisible) are written as
 * `\uXXXX`.
 */
export function safeJson(value: unknown, indent?: number): string {
  return escapeUnsafe(JSON.stringify(value, null, indent));
}

function escapeUnsafe(json: string): string {
  return json.replace(UNSAFE, character => (character === '\n' ? '\n' : escaped(character)));
}

/** A line of output; a long one is produced in pieces as the reader takes them. */
export type OutputLine = string | LongLine;

interface LongLine extends Iterable<string> {
  /** Characters, about. */
  readonly length: number;
}

/** Characters. */
const LONG = 1024 * 1024;

/** Stands for a long string; unguessable. */
const PLACEHOLDER = randomUUID();

/** A workflow command may be split between two pieces. */
const HASH_AT_END = /#(?=.{0,11}$)/gsu;

/** As {@link safeJson}, but long strings are escaped in pieces while the line is written. */
export function safeJsonLine(value: unknown, redactor?: Redactor): OutputLine {
  const long: string[] = [];
  const json = JSON.stringify(value, (_, member) => {
    if (typeof member !== 'string' || member.length <= LONG) return member;
    long.push(member);
    return PLACEHOLDER;
  });
  const safe = escapeUnsafe(json);
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
    yield escapeUnsafe(JSON.stringify(piece).slice(1, -1)).replace(HASH_AT_END, escaped);
}

/** A JSON text as written, with only unsafe characters escaped. */
export function safeSource(text: string): string {
  return text.replace(UNSAFE, character => (/[\n\r\t]/.test(character) ? character : escaped(character)));
}

function escaped(character: string): string {
  return [...Array(character.length).keys()]
    .map(at => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');
}

/** As {@link Redactor.text} for a JSON text: redacts decoded strings, so that it stays JSON. */
export function redactJson(source: string, redactor: Redactor): string {
  if (source.length <= BLOCK && isClean(source, redactor)) return source;
  const pieces: string[] = [];
  let strings: Literal[] = [];
  let done = 0;
  let isChanged = false;
  const finishBlock = (to: number) => {
    const block = source.slice(done, to);
    if (isClean(block, redactor)) pieces.push(block);
    else {
      isChanged = true;
      for (const { from, to: end, isName } of strings) {
        pieces.push(source.slice(done, from), redactString(source.slice(from, end), redactor, isName));
        done = end;
      }
      pieces.push(source.slice(done, to));
    }
    strings = [];
    done = to;
  };
  scanJson(source, (kind, from, to) => {
    const last = strings.at(-1);
    if (kind === 'colon' && last) last.isName = true;
    else if (from - done >= BLOCK) finishBlock(from);
    if (kind === 'string') strings.push({ from, to, isName: false });
  });
  finishBlock(source.length);
  return isChanged ? pieces.join('') : source; // avoids a copy of a large text
}

/** Characters. Only blocks that contain secrets are read string by string. */
const BLOCK = 16 * 1024;

interface Literal {
  readonly from: number;
  readonly to: number;
  isName: boolean;
}

/** An escape may hide any character; everything else is found as written. */
function isClean(text: string, redactor: Redactor): boolean {
  return !text.includes('\\u') && redactor.text(text) === text;
}

function redactString(literal: string, redactor: Redactor, isName: boolean): string {
  const text = literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
  const clean = isName && redactor.name ? redactor.name(text) : redactor.text(text);
  return clean === text ? literal : safeJson(clean);
}
