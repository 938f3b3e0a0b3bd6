import { constants } from 'node:buffer';
import { BACKSLASH, escapedAt, escapeLength, putUtf8 } from './json-escape-bytes.js';

/** Where a string lies in the bytes of a JSON text: from its opening quote to behind its closing one. */
export interface StringSpan {
  readonly from: number;
  readonly to: number;
}

const QUOTE = 0x22;
const COLON = 0x3a;
const SPACE = 0x20;
const BLANKS: readonly unknown[] = [SPACE, 0x0a, 0x0d, 0x09];

/**
 * The strings of at least so many bytes that {@link takeString} can read; keys are none of them. Linear, whatever the bytes
 * are. Says nothing about the validity of what is around the strings: that stays with `JSON.parse`.
 */
export function longStrings(bytes: Uint8Array, least: number): StringSpan[] {
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

/** Reads one of them, and destroys it if it has escapes. */
export function takeString(bytes: Uint8Array, { from, to }: StringSpan): string {
  const inner = Buffer.from(bytes.buffer, bytes.byteOffset + from + 1, to - from - 2);
  return inner.toString('utf8', 0, undoEscapes(inner));
}

/** Undoes them where they stand, since none is shorter than what it means; returns the new end. */
function undoEscapes(inner: Buffer): number {
  const first = inner.indexOf(BACKSLASH);
  if (first < 0) return inner.length;
  let end = first;
  for (let at = first; at < inner.length; at++) {
    const byte = inner[at] ?? 0;
    if (byte !== BACKSLASH) inner[end++] = byte;
    else {
      const code = escapedAt(inner, at);
      at += escapeLength(inner, at, code) - 1; // before it is written over
      end = putUtf8(inner, end, code);
    }
  }
  return end;
}

/** Readable: it has an end, JSON allows all of it, and UTF-8 has a form for each of its escapes. */
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
