import { RecentMap } from './collections.js';
import { visibleLine } from './visible.js';

/** The first characters, by which a string is found; none is shorter. */
const HEAD = 4;

const MARKS = 1 << 16;

/** Up to this many strings, `indexOf` for each is faster than one walk through the text. */
const FEW = 32;

/** A half-open range of a text. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Finds many strings (of at least four characters) in a text in linear time. */
export class Needles {
  readonly #needles = new Set<string>();
  /** Lengths by head, longest first. */
  readonly #lengths = new Map<string, readonly number[]>();
  /** Hashes of heads, which rule out most places of a text. */
  readonly #marks = new Uint8Array(MARKS);

  add(needle: string): void {
    if (needle.length < HEAD || this.#needles.has(needle)) return;
    this.#needles.add(needle);
    this.#marks[markAt(needle, 0)] = 1;
    const head = needle.slice(0, HEAD);
    const lengths = this.#lengths.get(head) ?? [];
    if (!lengths.includes(needle.length))
      this.#lengths.set(
        head,
        [...lengths, needle.length].sort((a, b) => b - a),
      );
  }

  /** Their places in order; overlapping ones are merged. */
  in(text: string): Span[] {
    return merged(this.#needles.size <= FEW ? this.#search(text) : this.#walk(text));
  }

  #search(text: string): Span[] {
    const spans: Span[] = [];
    for (const needle of this.#needles)
      for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1))
        spans.push({ from: at, to: at + needle.length });
    return spans.sort((a, b) => a.from - b.from);
  }

  #walk(text: string): Span[] {
    const spans: Span[] = [];
    for (let at = 0; at + HEAD <= text.length; at++) {
      const to = this.#marks[markAt(text, at)] === 1 ? this.#endAt(text, at) : at;
      if (to > at) spans.push({ from: at, to });
    }
    return spans;
  }

  /** The end of the longest string that begins at `at`; `at` if none does. */
  #endAt(text: string, at: number): number {
    const lengths = this.#lengths.get(text.slice(at, at + HEAD)) ?? [];
    const length = lengths.find(each => this.#needles.has(text.slice(at, at + each))) ?? 0;
    return at + length;
  }
}

function merged(spans: readonly Span[]): Span[] {
  const apart: Span[] = [];
  for (const { from, to } of spans) {
    const before = apart.at(-1);
    if (before && from < before.to)
      apart[apart.length - 1] = { from: before.from, to: Math.max(before.to, to) };
    else apart.push({ from, to });
  }
  return apart;
}

function markAt(text: string, at: number): number {
  const first = (text.charCodeAt(at) << 5) ^ text.charCodeAt(at + 1);
  const second = (text.charCodeAt(at + 2) << 5) ^ text.charCodeAt(at + 3);
  return (Math.imul(first, 0x9e37) ^ second) & (MARKS - 1);
}

/** What a text ends with that was cut (`cut`, `excerpt`). */
const MARK = '…';

/** Shorter beginnings tell nothing, and may be those of anything. */
const BEGINNINGS_SHORTEST = 8;

/** Of a longer string this much is known. */
const LONGEST = 256;

/** Characters by which strings are looked up: by more of them where too many begin alike. */
const HEADS = [BEGINNINGS_SHORTEST, 16, 64];

/** Where so many begin alike, whatever is shorter than the next head counts. */
const MANY = 32;

/** Characters before a mark: nothing is cut to more. */
const FARTHEST = 4_096;

/** The number of prefixes kept for short-lived secrets. */
export const LATEST = 150_000;

/** Many strings, of which a text that was cut may hold the beginning only. */
export class Beginnings {
  /** By their heads; most have one of their own. */
  readonly #wholes: RecentMap<string, string | readonly string[]>;

  /** @param remembered how many prefixes to keep; default: all */
  constructor(remembered = Number.POSITIVE_INFINITY) {
    this.#wholes = new RecentMap(remembered);
  }

  add(string: string): void {
    const whole = string.slice(0, LONGEST);
    for (const length of HEADS) {
      if (length >= string.length) return;
      const head = whole.slice(0, length);
      const known = this.#of(head);
      if (known.length >= MANY) continue;
      if (!known.includes(whole)) this.#wholes.set(head, known.length === 0 ? whole : [...known, whole]);
      return;
    }
  }

  /** Where they are, in order: each from where it begins to the mark. In the time it takes to read the text. */
  in(text: string): Span[] {
    const spans: Span[] = [];
    let from = 0;
    for (let mark = text.indexOf(MARK); mark >= 0; mark = text.indexOf(MARK, from)) {
      const at = this.#firstIn(text, Math.max(from, mark - FARTHEST), mark);
      if (at < mark) spans.push({ from: at, to: mark });
      from = mark + 1;
    }
    return spans;
  }

  #firstIn(text: string, from: number, to: number): number {
    for (let at = from; at + BEGINNINGS_SHORTEST <= to; at++)
      if (this.#wholes.get(text.slice(at, at + BEGINNINGS_SHORTEST)) && this.#has(text.slice(at, to)))
        return at;
    return to;
  }

  #has(piece: string): boolean {
    for (const length of HEADS) {
      if (length > piece.length) return true;
      const known = this.#of(piece.slice(0, length));
      if (known.some(whole => whole.startsWith(piece.slice(0, LONGEST)))) return true;
      if (known.length < MANY) return false;
    }
    return true;
  }

  #of(head: string): readonly string[] {
    const known = this.#wholes.get(head) ?? [];
    return typeof known === 'string' ? [known] : known;
  }
}

/** Shorter strings are too common to be redacted. */
const SHORTEST = 4;

export const REDACTED = '[redacted]';

const PLAIN_HEADERS = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'allow',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'host',
  'keep-alive',
  'retry-after',
  'sec-fetch-mode',
  'server',
  'transfer-encoding',
  'user-agent',
  'x-content-type-options',
]);

/** Replaces secrets by value, in every form that occurs on a wire (threats, row 25). */
export interface Redactor {
  add(secret: string): void;
  text(text: string): string;
  /** As `text`, for the name of a JSON member; default: `text`. */
  name?(text: string): string;
  /** As `text`, for our messages, whose shortened quotes may end within a secret; default: `text`. */
  words?(text: string): string;
}

/** Redacts overlapping and shortened secrets too. */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const forms = new Needles();
  const beginnings = new Beginnings();
  const text = (each: string) => withoutSpans(each, forms.in(each));
  const redactor: Redactor = {
    add(secret) {
      if (secret.length < SHORTEST) return;
      for (const form of writtenForms(secret)) {
        forms.add(form);
        beginnings.add(form);
      }
    },
    text,
    words: each => withoutCut(text(each), beginnings),
  };
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

/** Redacts a message of ours that quotes foreign text. */
export function cleanWords(redactor: Redactor, text: string): string {
  return redactor.words?.(text) ?? redactor.text(text);
}

/** Redacts secrets that were cut off by an ellipsis. */
export function withoutCut(text: string, secrets: Beginnings): string {
  return withoutSpans(text, secrets.in(text));
}

/** @param spans in order, without overlaps */
export function withoutSpans(text: string, spans: readonly Span[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to } of spans) {
    pieces.push(text.slice(done, from), REDACTED);
    done = to;
  }
  return done === 0 ? text : pieces.join('') + text.slice(done);
}

/** A secret as it is, and as written in JSON, URLs, base64 and on a screen. */
export function writtenForms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const percent = encodeURIComponent(secret.toWellFormed());
  const lower = percent.replace(/%[\dA-F]{2}/g, code => code.toLowerCase());
  const base64 = Buffer.from(secret).toString('base64').replace(/=+$/, '');
  const base64url = Buffer.from(secret).toString('base64url');
  return [secret, json, json.replaceAll('/', '\\/'), percent, lower, base64, base64url, visibleLine(secret)];
}

/** Whether a header carries no credential. */
export function isPlainHeader(name: string): boolean {
  return PLAIN_HEADERS.has(name.toLowerCase());
}

/** Redacts every header that is not on the allow-list. @param redactor for values of allowed headers */
export function redactHeaders(
  headers: Readonly<Record<string, string>>,
  redactor: Pick<Redactor, 'text'> = AS_IT_IS,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isPlainHeader(name) ? redactor.text(value) : REDACTED,
    ]),
  );
}

const AS_IT_IS = { text: (text: string) => text };
