import { distance } from 'fastest-levenshtein';
import ms from 'ms';
import prettyMs from 'pretty-ms';
import { visibleLine } from './visible.js';

const MIB = 1024 ** 2;

/** `1 byte`, `312 bytes`, `32 MiB`. */
export function bytesText(count: number): string {
  if (count > 0 && count % MIB === 0) return `${count / MIB} MiB`;
  return `${count} byte${count === 1 ? '' : 's'}`;
}

const HALF = /[\uD800-\uDBFF]$/;

/** The beginning of an untrusted text, with `…` if it is longer. */
export function truncate(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max).replace(HALF, '').toWellFormed()}…`;
}

/** A possible token at the end of a text: letters and digits. */
const HALF_TOKEN = /(?<![\w.~+/-])(?=[\w.~+/-]*\d)(?=[\w.~+/-]*[a-z])[\w.~+/-]{8,}$/i;

/** As {@link truncate}, for text that is redacted later: cuts before a token, because half of a secret would not be found. */
export function truncateBeforeToken(text: string, max: number): string {
  return text.length <= max ? text : truncate(text, text.slice(0, max).replace(HALF_TOKEN, '').length);
}

const MAX_EXCERPT = 300;

/** Quotes the start of untrusted text for a message: one line, safe to print. */
export function excerpt(text: string): string {
  return longExcerpt(text, MAX_EXCERPT);
}

/** As {@link excerpt}, with at most `max` characters. */
export function longExcerpt(text: string, max: number): string {
  const head = Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join('');
  return `"${visibleLine(truncateBeforeToken(text, head.length))}"`;
}

/** Elapsed milliseconds, rounded to microseconds. */
export function elapsedMs(at: number, start: number): number {
  return Math.round((at - start) * 1_000) / 1_000;
}

/** `a, b, c and 4 more`. */
export function joinFirst(names: readonly string[], max: number): string {
  return [names.slice(0, max).join(', '), ...restOf(names, max)].join(' ');
}

/** The first of many, then `and 4 more`. */
export function firstWithRest(all: readonly string[], max: number): readonly string[] {
  return [...all.slice(0, max), ...restOf(all, max)];
}

function restOf({ length }: readonly string[], max: number): readonly string[] {
  return length > max ? [`and ${length - max} more`] : [];
}

/** `3ms`, `1.2s`, `5m 3s`. */
export function formatDuration(milliseconds: number): string {
  if (milliseconds < 10) return `${Number(milliseconds.toFixed(1))}ms`;
  if (milliseconds < 999.5) return `${Math.round(milliseconds)}ms`;
  return prettyMs(Math.max(milliseconds, 1000), { keepDecimalsOnWholeSeconds: false });
}

const DURATION = /^\d+(?:\.\d+)?\s*(?:ms|s|m|h)?$/;

const MAX_DURATION_LENGTH = 100;

/** Parses `500ms`, `2s`, `5m`, `1h`; a bare number is milliseconds. Null if invalid. */
export function parseDuration(text: string): number | null {
  const trimmed = text.trim();
  return trimmed.length < MAX_DURATION_LENGTH && DURATION.test(trimmed)
    ? ms(trimmed as ms.StringValue)
    : null;
}

/** An end near `end` that does not split a surrogate pair. */
export function codePointEnd(text: string, end: number): number {
  const code = text.codePointAt(end - 1) ?? 0;
  return code > 0xffff ? end + 1 : end;
}

/** Maximum length of a piece, in characters; short strings are garbage-collected early. */
const PIECE = 64 * 1024;

/** Splits a text into pieces, so that a write, digest or escape copies little at once. */
export function* piecesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const to = codePointEnd(text, from + PIECE);
    yield text.slice(from, to);
    from = to;
  }
}

const LINE_FEED = 0x0a;

/** Stands for a line that is not UTF-8; it is not valid JSON either. */
const UNREADABLE = '(not UTF-8)';

/** The lines of a file, decoded separately, so that invalid bytes affect one line only. */
export function* byteLines(bytes: Uint8Array): Generator<string> {
  for (let from = 0; from < bytes.length; ) {
    const next = bytes.indexOf(LINE_FEED, from);
    const end = next < 0 ? bytes.length : next;
    yield decodeUtf8(bytes.subarray(from, end)) ?? UNREADABLE;
    from = end + 1;
  }
}

/** Splits incoming bytes into lines; keeps an incomplete line, drops one that is too long. */
export class LineSplitter {
  #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly onLine: (line: Uint8Array) => void,
  ) {}

  /** @returns false if a line is too long; the rest is ignored. */
  add(chunk: Uint8Array): boolean {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      if (!this.#keep(chunk.subarray(from, end))) return false;
      this.onLine(this.#take());
      from = end + 1;
    }
    return this.#keep(chunk.subarray(from));
  }

  get rest(): number {
    return this.#length;
  }

  #keep(piece: Uint8Array): boolean {
    this.#length += piece.length;
    if (piece.length > 0) this.#pieces.push(piece);
    const fits = this.#length <= this.maxBytes;
    if (!fits) this.#drop();
    return fits;
  }

  #take(): Uint8Array {
    const [only, ...more] = this.#pieces;
    const line = only && more.length === 0 ? only : Buffer.concat(this.#pieces);
    this.#drop();
    return line;
  }

  #drop(): void {
    this.#pieces = [];
    this.#length = 0;
  }
}

/**
 * Up to three similar candidates, nearest first.
 * @param limit the maximum edit distance; default: half of the word's length, at least 2
 */
export function nearest(
  word: string,
  candidates: readonly string[],
  limit = Math.max(2, Math.floor(word.length / 2)),
): string[] {
  return candidates
    .map(candidate => ({ candidate, far: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, far }) => far <= limit || candidate.startsWith(word))
    .sort((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** `Did you mean "a" or "b"?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  return suggestion(nearest(word, candidates));
}

/** `Did you mean …?` for the given names. */
export function suggestion(found: readonly string[]): string {
  return found.length > 0 ? `Did you mean ${found.map(name => `"${name}"`).join(' or ')}?` : '';
}

/**
 * The bytes of a file as UTF-8. Windows PowerShell redirects into UTF-16, which begins with a byte-order mark; anything else stays as it
 * is.
 */
export function asUtf8(bytes: Uint8Array): Uint8Array {
  const encoding = utf16Of(bytes);
  if (encoding === null) return bytes;
  try {
    return Buffer.from(new TextDecoder(encoding, { fatal: true }).decode(bytes));
  } catch {
    return bytes;
  }
}

function utf16Of([first, second]: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : null;
}

const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Null if the bytes are not valid UTF-8; keeps a byte-order mark. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return STRICT_UTF8.decode(bytes);
  } catch {
    return null;
  }
}
