import { constants, isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { type JsonReading, parseJson, readJson } from './json.js';
import { isRecord } from './values.js';

const QUOTE = 0x22;

const BACKSLASH = 0x5c;

const COLON = 0x3a;

const BLANKS: readonly unknown[] = [0x20, 0x0a, 0x0d, 0x09];

const LONG = 1024 * 1024;

/**
 * As {@link readJson}, but destroys the bytes: long strings are decoded in place, so that the source never becomes a string too (two
 * bytes per character if it contains one emoji). Invalid input is parsed as usual.
 */
export function readJsonOnce(bytes: Uint8Array, long = LONG): JsonReading {
  const spans = isUtf8(bytes) ? longStrings(bytes, long) : [];
  if (spans.length === 0) return readJson(bytes);
  const name = randomUUID(); // no foreign string can equal a placeholder
  const standIns = new Map(spans.map((span, index) => [`${name}-${index}`, span]));
  const reading = readJson(withStandIns(bytes, standIns));
  if (!reading.ok) return readJson(bytes); // the bytes are still intact, and the reason refers to all of them
  return { ...reading, value: restored(reading.value, standIns, span => takeString(bytes, span)) };
}

interface StringSpan {
  readonly from: number;
  readonly to: number;
}

/** Finds string values of at least `min` bytes that {@link takeString} can read, in linear time. */
function longStrings(bytes: Uint8Array, min: number): StringSpan[] {
  const found: StringSpan[] = [];
  for (let quote = bytes.indexOf(QUOTE); quote >= 0; ) {
    const span = { from: quote + 1, to: stringEnd(bytes, quote + 1) };
    const size = span.to - span.from + 2;
    if (
      size >= min &&
      size <= constants.MAX_STRING_LENGTH &&
      isValue(bytes, span.to) &&
      isReadable(bytes, span)
    )
      found.push(span);
    quote = bytes.indexOf(QUOTE, span.to + 1);
  }
  return found;
}

function stringEnd(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

/** Whether a string is complete, and a value rather than a key. */
function isValue(bytes: Uint8Array, quote: number): boolean {
  let at = quote + 1;
  while (BLANKS.includes(bytes[at])) at++;
  return quote < bytes.length && bytes[at] !== COLON;
}

/** Whether a string is valid JSON without lone surrogates, which have no UTF-8 form. */
function isReadable(bytes: Uint8Array, span: StringSpan): boolean {
  for (const piece of piecesOf(bytes, span)) {
    const reading = parseJson(piece);
    if (!reading.ok || reading.notes.length > 0) return false;
  }
  return true;
}

/** Decodes a string in place, which destroys its bytes: no escape is shorter than its character. */
function takeString(bytes: Uint8Array, span: StringSpan): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = span.from;
  for (const piece of piecesOf(bytes, span)) end += buffer.write(String(JSON.parse(piece)), end);
  return buffer.toString('utf8', span.from, end);
}

const PIECE = 64 * 1024;

const MAX_ESCAPE_LENGTH = 12;

/** Splits a string into short JSON strings, which are garbage-collected early. */
function* piecesOf(bytes: Uint8Array, { from, to }: StringSpan): Generator<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let start = from; start < to; ) {
    let end = Math.min(start + PIECE, to);
    while (end < to && !canCutAt(bytes, end)) end++;
    yield `"${buffer.toString('utf8', start, end)}"`;
    start = end;
  }
}

/** Whether a position is within neither a character nor an escape. */
function canCutAt(bytes: Uint8Array, at: number): boolean {
  if (((bytes[at] ?? 0) & 0xc0) === 0x80) return false;
  for (let before = at - MAX_ESCAPE_LENGTH; before < at; before++)
    if (bytes[before] === BACKSLASH) return false;
  return true;
}

type StandIns = ReadonlyMap<string, StringSpan>;

function withStandIns(bytes: Uint8Array, standIns: StandIns): Uint8Array {
  const pieces: Uint8Array[] = [];
  let done = 0;
  for (const [standIn, { from, to }] of standIns) {
    pieces.push(bytes.subarray(done, from), Buffer.from(standIn));
    done = to;
  }
  return Buffer.concat([...pieces, bytes.subarray(done)]);
}

/** Puts the long strings back in place; all keys are own properties, including `__proto__`. */
function restored(value: unknown, standIns: StandIns, read: (span: StringSpan) => string): unknown {
  if (typeof value === 'string') {
    const span = standIns.get(value);
    return span ? read(span) : value;
  }
  if (Array.isArray(value))
    for (const [index, item] of value.entries()) value[index] = restored(item, standIns, read);
  else if (isRecord(value))
    for (const key of Object.keys(value)) value[key] = restored(value[key], standIns, read);
  return value;
}
