/** The escapes of JSON strings, in the bytes of a UTF-8 text. */
export const BACKSLASH = 0x5c;
const LETTER_U = 0x75;
/** The marks in the first byte of a character, by the number of bytes that follow it. */
const LEADS = [0, 0xc0, 0xe0, 0xf0];

/** What the letter of a short escape stands for. */
const SHORT: ReadonlyMap<number | undefined, number> = new Map(
  ['""', '\\\\', '//', 'b\b', 'f\f', 'n\n', 'r\r', 't\t'].map(([letter = '', meant = '']) => [
    letter.charCodeAt(0),
    meant.charCodeAt(0),
  ]),
);

/** The code point that the escape at `at` stands for, a surrogate pair being one; NaN for a bad escape and for half a pair. */
export function escapedAt(bytes: Uint8Array, at: number): number {
  if (bytes[at + 1] !== LETTER_U) return SHORT.get(bytes[at + 1]) ?? Number.NaN;
  const unit = unitAt(bytes, at);
  if (isLow(unit)) return Number.NaN;
  if (!isHigh(unit)) return unit;
  const next = unitAt(bytes, at + 6);
  return isLow(next) ? 0x10000 + (unit - 0xd800) * 0x400 + (next - 0xdc00) : Number.NaN;
}

/** How many bytes the escape takes that stands for `code`. */
export function escapeLength(bytes: Uint8Array, at: number, code: number): number {
  if (bytes[at + 1] !== LETTER_U) return 2;
  return code > 0xffff ? 12 : 6;
}

/** Writes the code point in UTF-8; returns where it ends. */
export function putUtf8(bytes: Uint8Array, at: number, code: number): number {
  const following = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  bytes[at] = (LEADS[following] ?? 0) | (code >> (6 * following));
  for (let nth = 1; nth <= following; nth++)
    bytes[at + nth] = 0x80 | ((code >> (6 * (following - nth))) & 0x3f);
  return at + following + 1;
}

/** The UTF-16 unit of one `\uXXXX`; NaN where there is none. */
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
