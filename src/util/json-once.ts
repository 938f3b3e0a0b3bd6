import { constants, isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { type JsonReading, readJson } from './json.js';
import { isRecord } from './values.js';

const BACKSLASH = 0x5c;

const LETTER_U = 0x75;

/** The lead bits of a UTF-8 character, by the number of bytes that follow. */
const LEADS = [0, 0xc0, 0xe0, 0xf0];

/** Short escapes by their letter. */
const SHORT: ReadonlyMap<number | undefined, number> = new Map(
  ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'].map(([letter = '', meant = '']) => [
    letter.charCodeAt(0),
    meant.charCodeAt(0),
  ]),
);

/** The code point of the escape at `at` (a surrogate pair is one); NaN for a bad escape or half a pair. */
function escapedAt(bytes: Uint8Array, at: number): number {
  if (bytes[at + 1] !== LETTER_U) return SHORT.get(bytes[at + 1]) ?? Number.NaN;
  const unit = unitAt(bytes, at);
  if (isLow(unit)) return Number.NaN;
  if (!isHigh(unit)) return unit;
  const next = unitAt(bytes, at + 6);
  return isLow(next) ? 0x10000 + (unit - 0xd800) * 0x400 + (next - 0xdc00) : Number.NaN;
}

/** The length in bytes of the escape of `code`. */
function escapeLength(bytes: Uint8Array, at: number, code: number): number {
  if (bytes[at + 1] !== LETTER_U) return 2;
  return code > 0xffff ? 12 : 6;
}

/** Writes a code point in UTF-8; returns the end. */
function putUtf8(bytes: Uint8Array, at: number, code: number): number {
  const following = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  bytes[at] = (LEADS[following] ?? 0) | (code >> (6 * following));
  for (let nth = 1; nth <= following; nth++)
    bytes[at + nth] = 0x80 | ((code >> (6 * (following - nth))) & 0x3f);
  return at + following + 1;
}

/** The UTF-16 unit of one `\uXXXX`, or NaN. */
function unitAt(bytes: Uint8Array, at: number): number {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== LETTER_U) return Number.NaN;
  let unit = 0;
  for (let digit = at + 2; digit < at + 6; digit++) unit = unit * 16 + hexDigit(bytes[digit] ?? 0);
  return unit;
}

function hexDigit(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const lower = byte | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : Number.NaN;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** A string in the bytes of a JSON text, with its quotes. */
interface StringSpan {
  readonly from: number;
  readonly to: number;
}

const QUOTE = 0x22;

const COLON = 0x3a;

const SPACE = 0x20;

const BLANKS: readonly unknown[] = [SPACE, 0x0a, 0x0d, 0x09];

/**
 * The string values of at least `least` bytes that {@link takeString} can read, in linear time. Does not validate the JSON around them.
 */
function longStrings(bytes: Uint8Array, least: number): StringSpan[] {
  const found: StringSpan[] = [];
  for (let from = 0; from < bytes.length; from++) {
    if (bytes[from] !== QUOTE) continue;
    const { to, isReadable } = stringAt(bytes, from);
    const hasSize = to - from >= least && to - from <= constants.MAX_STRING_LENGTH;
    if (hasSize && isReadable && !isKey(bytes, to)) found.push({ from, to });
    from = to - 1;
  }
  return found;
}

/** Decodes a string in place, which destroys its bytes. */
function takeString(bytes: Uint8Array, { from, to }: StringSpan): string {
  const inner = Buffer.from(bytes.buffer, bytes.byteOffset + from + 1, to - from - 2);
  return inner.toString('utf8', 0, undoEscapes(inner));
}

/** Decodes escapes in place, since none is shorter than its character; returns the new end. */
function undoEscapes(inner: Buffer): number {
  const first = inner.indexOf(BACKSLASH);
  if (first < 0) return inner.length;
  let end = first;
  for (let at = first; at < inner.length; at++) {
    const byte = inner[at] ?? 0;
    if (byte !== BACKSLASH) inner[end++] = byte;
    else {
      const code = escapedAt(inner, at);
      at += escapeLength(inner, at, code) - 1; // before it is overwritten
      end = putUtf8(inner, end, code);
    }
  }
  return end;
}

/** Readable: terminated, valid JSON, and every escape has a UTF-8 form. */
function stringAt(bytes: Uint8Array, from: number): { readonly to: number; readonly isReadable: boolean } {
  let isReadable = true;
  for (let at = from + 1; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) return { to: at + 1, isReadable };
    if (byte < SPACE) isReadable = false;
    if (byte !== BACKSLASH) continue;
    const code = escapedAt(bytes, at);
    if (Number.isNaN(code)) isReadable = false;
    at += Number.isNaN(code) ? 1 : escapeLength(bytes, at, code) - 1;
  }
  return { to: bytes.length, isReadable: false };
}

function isKey(bytes: Uint8Array, behind: number): boolean {
  let at = behind;
  while (BLANKS.includes(bytes[at])) at++;
  return bytes[at] === COLON;
}

/** Strings from this length in bytes are decoded in place. */
const LONG = 1024 * 1024;

/**
 * As {@link readJson}, but destroys the bytes: long strings are decoded in place, so that the source never becomes a string too (two
 * bytes a character with one emoji in it). Invalid input takes the ordinary way.
 */
export function readJsonOnce(bytes: Uint8Array, long = LONG): JsonReading {
  const spans = isUtf8(bytes) ? longStrings(bytes, long) : [];
  if (spans.length === 0) return readJson(bytes);
  const name = randomUUID(); // no foreign string can equal a stand-in
  const standIns = new Map(spans.map((span, index) => [`${name}-${index}`, span]));
  const reading = readJson(withStandIns(bytes, standIns));
  if (!reading.ok) return readJson(bytes); // the bytes are still intact, and the reason refers to all of them
  return { ...reading, value: restored(reading.value, standIns, span => takeString(bytes, span)) };
}

type StandIns = ReadonlyMap<string, StringSpan>;

/** The same JSON with a short string for each long one. */
function withStandIns(bytes: Uint8Array, standIns: StandIns): Uint8Array {
  const pieces: Uint8Array[] = [];
  let done = 0;
  for (const [standIn, { from, to }] of standIns) {
    pieces.push(bytes.subarray(done, from), Buffer.from(`"${standIn}"`));
    done = to;
  }
  return Buffer.concat([...pieces, bytes.subarray(done)]);
}

/** Puts the long strings back in place; keys are own already, also `__proto__`. */
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
