import { randomUUID } from 'node:crypto';
import { RecentMap } from './collections.js';
import { exactJson } from './exact-json.js';
import { scanJson, stringEnd } from './json-tokens.js';
import { piecesOf } from './text.js';
import { HASH_COMMAND, visibleLine } from './visible.js';

/** Secrets are looked up by this many characters; shorter ones are too common to be redacted. */
const HEAD = 4;

const HASHES = 1 << 20;

/** Up to this number of forms, `indexOf` for each is faster than one pass through the text. */
const FEW = 100;

/** Number of characters for `indexOf`, whose time can be the product of both lengths. */
const START = 32;

/** Maximum number of compared characters for each character of a text. */
const WORK = 32;

/** What it costs to find a possible match, in compared characters. */
const MATCH_WORK = 8;

/** Number of compared characters that are allowed in any text. */
const FREE_WORK = 4 * 1024;

interface Span {
  readonly from: number;
  to: number;
}

/** More forms than two secrets have. */
const MAX_FORMS = 48;

interface FinderOptions {
  /** Number of latest forms of secrets to keep; default: all. */
  readonly remembered?: number;
  /** Secrets shorter than this are not redacted within a longer word, unless they are encoded. */
  readonly wholeBelow?: number;
}

/** Where a form of a secret is redacted. */
type Place = 'words' | 'anywhere';

/**
 * Replaces many secrets, in every encoding that occurs on a wire (threats, row 25). Takes linear time, since both the secrets and the text
 * may be hostile; a text that takes longer is redacted as a whole.
 */
export class SecretFinder {
  /** Null if there are many. */
  #few: Map<string, Place> | null = new Map();
  readonly #forms: RecentMap<string, Place>;
  /** Secrets whose forms are still kept. */
  readonly #known: RecentMap<string, true>;
  /** Lengths of forms by first characters, longest first. */
  readonly #lengths: RecentMap<string, readonly number[]>;
  /** Hashes of first and of last characters, which rule out most positions of a text. */
  #starts = new Uint8Array(0);
  #ends = new Uint8Array(0);
  /** Work that is left for the text. */
  #left = 0;

  constructor(private readonly options: FinderOptions = {}) {
    const { remembered = Number.POSITIVE_INFINITY } = options;
    this.#forms = new RecentMap(remembered);
    this.#known = new RecentMap(remembered / MAX_FORMS);
    this.#lengths = new RecentMap(remembered);
  }

  /** Secrets shorter than four characters are too common. */
  add(secret: string): void {
    if (secret.length < HEAD || this.#known.get(secret)) return;
    this.#known.set(secret, true);
    for (const form of writtenForms(secret)) this.#addForm(form, 'words');
    for (const form of encodedForms(secret)) this.#addForm(form, 'anywhere');
  }

  #addForm(form: string, place: Place): void {
    if (form.length < HEAD) return;
    if (!this.#few) this.#index(form, place);
    else if (this.#few.set(form, place).size > FEW) this.#indexAll(this.#few);
  }

  #indexAll(forms: Iterable<readonly [string, Place]>): void {
    this.#few = null;
    this.#starts = new Uint8Array(HASHES);
    this.#ends = new Uint8Array(HASHES);
    for (const [form, place] of forms) this.#index(form, place);
  }

  /** Replaces secrets; overlapping ones are replaced as one. */
  replaceIn(text: string): string {
    this.#left = FREE_WORK + WORK * text.length;
    const spans = this.#few ? this.#search(text, this.#few) : this.#walk(text);
    if (this.#left < 0) return REDACTED;
    const pieces: string[] = [];
    let done = 0;
    for (const { from, to } of spans) {
      pieces.push(text.slice(done, from), REDACTED);
      done = to;
    }
    return done === 0 ? text : pieces.join('') + text.slice(done);
  }

  #index(form: string, place: Place): void {
    this.#forms.set(form, place);
    this.#starts[hashAt(form, 0)] = 1;
    this.#ends[hashAt(form, form.length - HEAD)] = 1;
    const head = form.slice(0, HEAD);
    const lengths = this.#lengths.get(head) ?? [];
    const isNew = !lengths.includes(form.length);
    this.#lengths.set(head, isNew ? [...lengths, form.length].sort((a, b) => b - a) : lengths);
  }

  #search(text: string, forms: Iterable<readonly [string, Place]>): Span[] {
    const spans: Span[] = [];
    for (const [form, place] of forms) {
      const start = form.slice(0, START);
      const found: Span[] = [];
      for (let at = text.indexOf(start); at >= 0 && this.#left >= 0; at = text.indexOf(start, at + 1)) {
        const to = at + form.length;
        this.#left -= MATCH_WORK + form.length / 8; // compared natively
        if (text.slice(at, to) === form && this.#fits(place, text, at, to)) cover(found, at, to);
      }
      for (const span of found) spans.push(span);
    }
    const all: Span[] = [];
    for (const { from, to } of spans.sort((a, b) => a.from - b.from)) cover(all, from, to);
    return all;
  }

  #walk(text: string): Span[] {
    const spans: Span[] = [];
    for (let at = 0; at + HEAD <= text.length && this.#left >= 0; at++) {
      if (this.#starts[hashAt(text, at)] !== 1) continue;
      const lengths = this.#lengths.get(text.slice(at, at + HEAD));
      const length = lengths?.find(each => this.#isHere(text, at, each));
      if (length) cover(spans, at, at + length);
    }
    return spans;
  }

  #isHere(text: string, at: number, length: number): boolean {
    const to = at + length;
    this.#left -= HEAD;
    if (this.#ends[hashAt(text, to - HEAD)] !== 1) return false;
    this.#left -= length;
    const place = this.#forms.get(text.slice(at, to));
    return place !== undefined && this.#fits(place, text, at, to);
  }

  #fits(place: Place, text: string, from: number, to: number): boolean {
    const { wholeBelow } = this.options;
    if (place === 'anywhere' || wholeBelow === undefined) return true;
    this.#left -= backslashesBefore(text, from);
    return startsWord(text, from) && (to - from >= wholeBelow || !isWithinWord(text, to));
  }
}

function isWithinWord(text: string, at: number): boolean {
  return /^\w\w$/.test(text.slice(Math.max(0, at - 1), at + 1));
}

/** Whether a word starts at a position. In JSON and percent-encoded text an escape is not part of the word after it. */
function startsWord(text: string, at: number): boolean {
  if (isEscaped(text, at)) return false;
  return (
    !isWithinWord(text, at) ||
    isEscaped(text, at - 1) ||
    (isEscaped(text, at - 5) && text[at - 5] === 'u') ||
    /^%[\da-f]{2}$/i.test(text.slice(Math.max(0, at - 3), at))
  );
}

function isEscaped(text: string, at: number): boolean {
  return backslashesBefore(text, at) % 2 === 1;
}

function backslashesBefore(text: string, at: number): number {
  let count = 0;
  while (text[at - 1 - count] === '\\') count++;
  return count;
}

/** Adds a span, and merges it with the last one if they overlap. */
function cover(spans: Span[], from: number, to: number): void {
  const last = spans.at(-1);
  if (last && from < last.to) last.to = Math.max(last.to, to);
  else spans.push({ from, to });
}

function hashAt(text: string, at: number): number {
  const first = (text.charCodeAt(at) << 5) ^ text.charCodeAt(at + 1);
  const second = (text.charCodeAt(at + 2) << 5) ^ text.charCodeAt(at + 3);
  return (Math.imul(first, 0x9e37) ^ second) & (HASHES - 1);
}

export const REDACTED = '[redacted]';

/**
 * Replaces secrets by value (threats, row 25).
 * @example
 * const clean = (redactor: Redactor, line: string) => redactor.text(line);
 */
export interface Redactor {
  /** Adds a secret; one shorter than four characters is ignored. */
  add(secret: string): void;
  /** Returns the text with `[redacted]` in place of secrets. */
  text(text: string): string;
  /** Redacts the name of a JSON member; default: `text`. */
  name?(text: string): string;
}

/**
 * Creates a redactor, which finds secrets in every encoding that occurs on a wire: JSON, percent, hex, base64.
 * @example
 * createRedactor(['my-token']).text('Authorization: Bearer my-token'); // Authorization: Bearer [redacted]
 */
export function createRedactor(secrets: Iterable<string> = []): Redactor {
  const finder = new SecretFinder();
  for (const secret of secrets) finder.add(secret);
  return { add: secret => finder.add(secret), text: text => finder.replaceIn(text) };
}

/** How often JSON may be quoted in JSON. */
const JSON_LEVELS = 3;

/** A secret as a word: plain, in JSON, in a URL, and as shown on a screen. */
function writtenForms(secret: string): Set<string> {
  const forms = new Set([secret, visibleLine(secret)]);
  let json = secret;
  for (let level = 0; level < JSON_LEVELS; level++) {
    json = JSON.stringify(json).slice(1, -1);
    forms.add(json).add(json.replaceAll('/', '\\/'));
  }
  const percent = encodeURIComponent(secret.toWellFormed());
  return forms.add(percent).add(percent.replace(/%[\dA-F]{2}/g, code => code.toLowerCase()));
}

/** A secret as a part of an encoded text: every byte percent-encoded, in hex, and in base64 at each offset. */
function encodedForms(secret: string): Set<string> {
  const hex = Buffer.from(secret).toString('hex');
  const percent = hex.replace(/../g, '%$&');
  const forms = new Set([hex, hex.toUpperCase(), percent, percent.toUpperCase()]);
  for (const encoding of ['base64', 'base64url'] as const)
    forms.add(Buffer.from(secret).toString(encoding).replace(/=+$/, ''));
  for (const before of ['', '-', '--']) {
    const bytes = Buffer.from(before + secret);
    // Within other bytes, the characters at both ends contain bits of these.
    const start = Math.ceil((before.length * 8) / 6);
    const end = Math.floor((bytes.length * 8) / 6);
    for (const encoding of ['base64', 'base64url'] as const)
      forms.add(bytes.toString(encoding).slice(start, end));
  }
  return forms;
}

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

/** Whether a header is on the allow-list. */
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

/** Invisible characters, and the `#` of CI commands. In JSON, no other command is at the start of a line. */
const UNSAFE = new RegExp(
  `[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Co}\\p{Cn}\\p{Zl}\\p{Zp}\\p{Default_Ignorable_Code_Point}]|${HASH_COMMAND.source}`,
  'gu',
);

/**
 * JSON that is safe on a terminal and in a CI log: characters that `JSON.stringify` does not escape (C1, DEL, bidi, invisible) are
 * written as `\uXXXX`.
 */
export function safeJson(value: unknown, indent?: number): string {
  return safeSource(exactJson(value, { indent }));
}

/** A JSON text with only unsafe characters escaped. */
export function safeSource(text: string): string {
  return text.replace(UNSAFE, character => (/[\n\r\t]/.test(character) ? character : escaped(character)));
}

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
    yield safeSource(JSON.stringify(piece).slice(1, -1)).replace(HASH_AT_END, escaped);
}

function escaped(character: string): string {
  return [...Array(character.length).keys()]
    .map(at => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');
}

/** As {@link Redactor.text} for a JSON text: redacts decoded strings, so that it stays JSON. */
export function redactJson(source: string, redactor: Redactor): string {
  const pieces: string[] = [];
  let done = 0;
  let isChanged = false;
  const finishBlock = (to: number) => {
    const block = source.slice(done, to);
    const clean = isClean(block, redactor) ? block : redactStrings(block, redactor);
    isChanged ||= clean !== block;
    pieces.push(clean);
    done = to;
  };
  // A block begins with a string, so that no string is in two blocks, and a name is in one block with its colon.
  for (let quote = source.indexOf('"'); quote >= 0; quote = source.indexOf('"', stringEnd(source, quote)))
    if (quote - done >= BLOCK) finishBlock(quote);
  finishBlock(source.length);
  return isChanged ? pieces.join('') : source; // avoids a copy of a large text
}

/** Block size in characters. Only blocks that contain secrets are read string by string. */
const BLOCK = 16 * 1024;

function redactStrings(block: string, redactor: Redactor): string {
  const strings: { readonly from: number; readonly to: number; isName: boolean }[] = [];
  scanJson(block, (kind, from, to) => {
    const last = strings.at(-1);
    if (kind === 'colon' && last) last.isName = true;
    if (kind === 'string') strings.push({ from, to, isName: false });
  });
  const pieces: string[] = [];
  let done = 0;
  for (const { from, to, isName } of strings) {
    pieces.push(block.slice(done, from), redactString(block.slice(from, to), redactor, isName));
    done = to;
  }
  return pieces.join('') + block.slice(done);
}

/** Whether a text has no secrets, and no escapes, which can hide any character. */
function isClean(text: string, redactor: Redactor): boolean {
  return !text.includes('\\u') && redactor.text(text) === text;
}

function redactString(literal: string, redactor: Redactor, isName: boolean): string {
  const text = literal.includes('\\') ? String(JSON.parse(literal)) : literal.slice(1, -1);
  const clean = isName && redactor.name ? redactor.name(text) : redactor.text(text);
  return clean === text ? literal : safeJson(clean);
}
