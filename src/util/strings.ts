import { decodeUtf8 } from './json.js';

let last: { readonly text: string; readonly url: URL } | undefined;

/**
 * Parses an absolute URL; null if invalid. Caches the last one, since a callback URL is parsed several times in a row. Do not modify the
 * result.
 */
export function readUrl(text: string): URL | null {
  if (last?.text === text) return last.url;
  try {
    last = { text, url: new URL(text) };
    return last.url;
  } catch {
    return null;
  }
}

/** A Content-Type without parameters, in lower case (RFC 9110, section 8.3). */
export function mediaTypeOf(contentType: string): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** An end near `end` that does not split a surrogate pair. */
export function wholeCharacters(text: string, end: number): number {
  const code = text.codePointAt(end - 1) ?? 0;
  return code > 0xffff ? end + 1 : end;
}

/** Characters; short strings are collected soon. */
const PIECE = 64 * 1024;

/** The text in pieces, so that a write, digest or escape copies little at once. */
export function* piecesOf(text: string): Generator<string> {
  for (let from = 0; from < text.length; ) {
    const to = wholeCharacters(text, from + PIECE);
    yield text.slice(from, to);
    from = to;
  }
}

const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word quoted for a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** As {@link quoted}, but plain words stay unquoted. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : quoted(text);
}

const LINE_FEED = 0x0a;
/** Replaces a line that is not UTF-8; it is not valid JSON either. */
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

/** Splits incoming bytes into lines; keeps an unfinished line, drops one that is too long. */
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

  /** Bytes after the last line feed. */
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
