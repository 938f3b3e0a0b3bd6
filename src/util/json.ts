import { rememberNumbers } from './exact-json.js';
import { type JsonTokenKind, JsonTokens, scanJson } from './json-tokens.js';
import { LIMITS } from './limits.js';
import { decodeUtf8, truncateBeforeToken } from './text.js';
import { isRecord } from './values.js';

const MAX_NOTES = 8;

/** Maximum length of a number to check, in characters. */
const MAX_NUMBER_LENGTH = 400;

const MAX_KEY_LENGTH = 1024;

/** Returns a note for each number in a JSON text that `JSON.parse` would change. */
export function lossyNumberNotes(text: string): readonly string[] {
  return diagnose(text).notes.filter(note => note.startsWith('the number '));
}

/** Checks a JSON text before parsing: depth, repeated keys, numbers that would be written as others (threats, row 20). */
export function diagnose(text: string): { readonly isTooDeep: boolean; readonly notes: readonly string[] } {
  const { isTooDeep, isOdd } = survey(text);
  return { isTooDeep, notes: isOdd ? notesOn(text) : [] };
}

/** What a fast pass through a JSON text shows. */
interface Survey {
  readonly isTooDeep: boolean;
  /** Whether {@link notesOn} may find something. */
  readonly isOdd: boolean;
}

function survey(text: string): Survey {
  const tokens = new JsonTokens(text);
  const keys = new KeyDigests(text);
  /** The objects and lists that contain the token, by number. */
  const containers: number[] = [];
  let [count, wordFrom, wordTo, isOdd] = [0, 0, 0, false];
  for (let kind = tokens.next(); kind; kind = tokens.next()) {
    const { from, to } = tokens;
    if (kind === 'open' && containers.push(count++) > LIMITS.jsonDepth.value)
      return { isTooDeep: true, isOdd };
    if (kind === 'close') containers.pop();
    else if (kind === 'string') {
      wordFrom = from;
      wordTo = to;
    } else if (kind === 'colon') isOdd ||= keys.mayHave(containers.at(-1) ?? 0, wordFrom, wordTo);
    else if (kind === 'scalar') isOdd ||= mayBeLossy(text, from, to);
  }
  return { isTooDeep: false, isOdd };
}

/** The length of `1e309`. */
const SHORTEST_LOSSY = 5;

function mayBeLossy(text: string, from: number, to: number): boolean {
  if (to - from < SHORTEST_LOSSY) return false;
  return /^-?(?:\d{16}|\d.*e)/i.test(text.slice(from, Math.min(to, from + MAX_NUMBER_LENGTH)));
}

/**
 * Recognizes the keys of the objects of a text. It compares digests, since comparing the keys themselves takes longer than parsing the
 * text: two keys may seem equal, and equal ones never seem different.
 */
class KeyDigests {
  /** A hash table with linear probing: each digest in two numbers, of which the first is never 0. */
  #table = new Int32Array(128);
  #count = 0;

  constructor(private readonly text: string) {}

  /** Whether the object may have had this key before; adds it. */
  mayHave(object: number, from: number, to: number): boolean {
    const { text } = this;
    let one = Math.imul(object + 1, 0x9e3779b1);
    let other = object;
    for (let at = from; at < to; at++) {
      const code = text.charCodeAt(at);
      if (code === BACKSLASH) return true;
      one = Math.imul(one ^ code, 0x01000193);
      other = Math.imul(other ^ code, 0x5bd1e995);
    }
    if (4 * ++this.#count > this.#table.length) this.#grow();
    return !this.#add(one | 1, other);
  }

  /** False if the digest is there, or if finding that out takes too long. */
  #add(one: number, other: number): boolean {
    const table = this.#table;
    const last = table.length - 1;
    let at = (2 * (other ^ (one >>> 15))) & last;
    for (let probes = 0; table[at] !== 0; at = (at + 2) & last)
      if ((table[at] === one && table[at + 1] === other) || ++probes > MAX_PROBES) return false;
    table[at] = one;
    table[at + 1] = other;
    return true;
  }

  #grow(): void {
    const old = this.#table;
    this.#table = new Int32Array(4 * old.length);
    for (let at = 0; at < old.length; at += 2) if (old[at] !== 0) this.#add(old[at] ?? 0, old[at + 1] ?? 0);
  }
}

const BACKSLASH = 0x5c;

/** More probes mean that someone chose the keys. */
const MAX_PROBES = 256;

/** Notes repeated keys and numbers that cannot be represented. */
function notesOn(text: string): readonly string[] {
  const notes: string[] = [];
  const note = (message: string) => {
    if (notes.length < MAX_NOTES && !notes.includes(message)) notes.push(message);
  };
  const keys: SeenKeys[] = [];
  const tokens = new JsonTokens(text);
  let wordFrom = 0;
  let wordTo = 0;
  for (let kind = tokens.next(); kind; kind = tokens.next()) {
    const { from, to } = tokens;
    if (kind === 'open') keys.push(new SeenKeys());
    else if (kind === 'close') keys.pop();
    else if (kind === 'string') {
      wordFrom = from;
      wordTo = to;
    } else if (kind === 'colon') noteRepeatedKey(text.slice(wordFrom, wordTo), keys.at(-1), note);
    else if (kind === 'scalar')
      noteLossyNumber(text.slice(from, Math.min(to, from + MAX_NUMBER_LENGTH)), note);
  }
  return notes;
}

/** The keys of one object: a list while there are few, which is faster than a set. */
class SeenKeys {
  readonly #few: string[] = [];
  #many: Set<string> | undefined;

  /** Whether the key was added before. */
  add(key: string): boolean {
    if (this.#many ? this.#many.has(key) : this.#few.includes(key)) return true;
    if (this.#many) this.#many.add(key);
    else if (this.#few.push(key) > FEW) this.#many = new Set(this.#few);
    return false;
  }
}

const FEW = 16;

function noteRepeatedKey(token: string, seen: SeenKeys | undefined, note: (message: string) => void): void {
  if (token.length > MAX_KEY_LENGTH) return;
  const key = token.includes('\\') ? unescaped(token) : token;
  if (seen?.add(key)) note(`the key ${token} occurs twice in one object; the last one is used`);
}

function unescaped(token: string): string {
  try {
    return JSON.stringify(JSON.parse(token));
  } catch {
    return token;
  }
}

const INEXACT = 'cannot be held exactly';

/** Whether a note is about a number that other parsers may hold exactly. */
export function isInexactNote(note: string): boolean {
  return note.endsWith(INEXACT);
}

function noteLossyNumber(literal: string, note: (message: string) => void): void {
  const value = Number(literal);
  if (!/^-?\d/.test(literal) || Number.isNaN(value) || String(value) === literal) return;
  if (!Number.isFinite(value)) note(`the number ${literal.slice(0, 40)} is too large to hold`);
  else if (/^-?\d{16,}$/.test(literal) && BigInt(literal) !== BigInt(value))
    note(`the number ${literal.slice(0, 40)} ${INEXACT}`);
}

/** Position of a syntax error, which `JSON.parse` does not always report. */
interface JsonFault {
  /** Counts from 1, like `column`. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

type Expected = 'a value' | 'a key' | 'a key or }' | 'a value or ]' | ':' | `, or ${'}' | ']'}` | 'the end';

/** Finds the first syntax error of a JSON text, or null. Linear at any depth. */
export function jsonFault(text: string): JsonFault | null {
  const closers: Closers = [];
  let expected: Expected = 'a value';
  const tokens = new JsonTokens(text);
  for (let kind = tokens.next(); kind; kind = tokens.next()) {
    const next = FOLLOWING[kind](expected, tokens.token, closers);
    if (next === null) return faultAt(text, tokens.from, expected);
    expected = next;
  }
  return expected === 'the end' ? null : faultAt(text, text.length, expected);
}

const AFTER_COMMA: Readonly<Partial<Record<Expected, Expected>>> = { ', or }': 'a key', ', or ]': 'a value' };

type Closers = ('}' | ']')[];

/** What may follow a token; null if the token is not allowed there. */
const FOLLOWING: Readonly<
  Record<JsonTokenKind, (expected: Expected, token: string, closers: Closers) => Expected | null>
> = {
  colon: expected => (expected === ':' ? 'a value' : null),
  comma: expected => AFTER_COMMA[expected] ?? null,
  open(expected, token, closers) {
    if (!expected.startsWith('a value')) return null;
    closers.push(token === '{' ? '}' : ']');
    return token === '{' ? 'a key or }' : 'a value or ]';
  },
  close: (expected, token, closers) =>
    expected.endsWith(token) && closers.pop() ? afterValue(closers) : null,
  string(expected, token, closers) {
    if (expected.startsWith('a key')) return isJson(token) ? ':' : null;
    return FOLLOWING.scalar(expected, token, closers);
  },
  scalar: (expected, token, closers) =>
    expected.startsWith('a value') && isJson(token) ? afterValue(closers) : null,
};

function afterValue(closers: Closers): Expected {
  const closer = closers.at(-1);
  return closer ? `, or ${closer}` : 'the end';
}

const MAX_TOKEN = 40;

function faultAt(text: string, at: number, expected: Expected): JsonFault {
  const [token = ''] = /^[\w.+-]+|^./su.exec(text.slice(at, at + MAX_TOKEN + 1)) ?? [];
  const found =
    at < text.length ? `found ${JSON.stringify(truncateBeforeToken(token, MAX_TOKEN))}` : 'the text ends';
  const before = text.slice(0, at).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return { line: before.length, column, message: `${found} where ${expected} is expected` };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The result of parsing JSON: its value, or why it has none. */
export type JsonReading =
  | { readonly ok: true; readonly value: unknown; readonly notes: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/**
 * Parses untrusted bytes as JSON. Never throws: invalid input has a `reason`; input that changes when parsed (a byte-order mark, a repeated
 * key, a number that cannot be represented, a lone surrogate) has `notes` (threats, rows 18, 20, 21).
 * @example
 * readJson(Buffer.from('{"n":12345678901234567890}')); // ok, with a note about the number
 */
export function readJson(bytes: Uint8Array): JsonReading {
  const decoded = decodeUtf8(bytes);
  if (decoded === null) return { ok: false, reason: 'the body is not valid UTF-8' };
  return parseJson(decoded);
}

/** As {@link readJson}, for a text that is already decoded. */
export function parseJson(source: string): JsonReading {
  const marked = source.startsWith('\uFEFF');
  const text = marked ? source.slice(1) : source;
  const found = diagnose(text);
  if (found.isTooDeep)
    return { ok: false, reason: `the JSON is nested deeper than ${LIMITS.jsonDepth.value} levels` };
  try {
    const value: unknown = JSON.parse(text);
    if (found.notes.length > 0) rememberNumbers(text, value);
    const mark = marked ? ['the body starts with a byte-order mark'] : [];
    return {
      ok: true,
      value,
      notes: [...mark, ...found.notes, ...(hasLoneSurrogate(text, value) ? [LONE_SURROGATE] : [])],
    };
  } catch {
    return { ok: false, reason: `not valid JSON: ${faultIn(text)}` };
  }
}

/** Describes a syntax error. V8's message would quote ten characters of the text, perhaps of a secret. */
function faultIn(text: string): string {
  const fault = jsonFault(text);
  if (!fault) return 'it cannot be read';
  const line = text.includes('\n') ? `line ${fault.line}, ` : '';
  return `${fault.message} (${line}column ${fault.column})`;
}

const LONE_SURROGATE = 'a string holds a lone surrogate (half of a UTF-16 pair)';

/** Searches escapes only, since the bytes were valid UTF-8. */
function hasLoneSurrogate(text: string, value: unknown): boolean {
  return /\\u[dD][89a-fA-F]/.test(text) && !isWellFormed(value);
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  return Object.keys(value).every(
    key => key.isWellFormed() && isWellFormed(value[key as keyof typeof value]),
  );
}

const MAX_LENGTH = 1_000_000;

/**
 * Indents JSON token by token; numbers, escapes and repeated keys stay as written. Null if the text is not a JSON object or array, longer
 * than a million characters, or nested too deep.
 */
export function prettyJson(text: string): string | null {
  if (text.length > MAX_LENGTH || !/^\s*[{[]/.test(text) || !isJson(text)) return null;
  const out: string[] = [];
  let depth = 0;
  let opened = false;
  const newline = () => out.push(`\n${'  '.repeat(depth)}`);
  scanJson(text, (kind, from, to) => {
    const token = text.slice(from, to);
    if (depth > LIMITS.jsonDepth.value) return false;
    if (kind === 'close') {
      depth--;
      if (!opened) newline();
    } else if (opened) newline();
    opened = kind === 'open';
    if (opened) depth++;
    out.push(kind === 'colon' ? ': ' : token);
    if (kind === 'comma') newline();
    return true;
  });
  return depth > LIMITS.jsonDepth.value ? null : out.join('');
}

/** Replaces a string that is a direct member of the JSON object, also where its key is repeated. */
export function withStringMember(text: string, name: string, value: string): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { key, from, to } of membersOf(text)) {
    if (key !== name) continue;
    pieces.push(text.slice(done, from), JSON.stringify(value));
    done = to;
  }
  return pieces.join('') + text.slice(done);
}

interface MemberSpan {
  /** For an item of a list, its index. */
  readonly key: string;
  /** The half-open range of the value. */
  readonly from: number;
  readonly to: number;
}

/** The direct members of a JSON object or list, in order; a repeated key several times. */
function* membersOf(text: string): Generator<MemberSpan> {
  const tokens = new JsonTokens(text.replace(/^\uFEFF/, ' '));
  if (tokens.next() !== 'open') return;
  const isList = tokens.token === '[';
  let index = 0;
  for (let kind = tokens.next(); kind && kind !== 'close'; kind = tokens.next()) {
    if (kind === 'comma') continue;
    const key = isList ? String(index++) : String(JSON.parse(tokens.token));
    if (!isList) tokens.next(); // the colon
    kind = isList ? kind : tokens.next();
    const { from } = tokens;
    for (let depth = depthOf(kind); depth > 0; ) depth += depthOf(tokens.next());
    yield { key, from, to: tokens.to };
  }
}

/** How a token changes the depth; the end of an incomplete text closes everything. */
function depthOf(kind: JsonTokenKind | null): number {
  if (kind === 'open') return 1;
  if (kind === 'close') return -1;
  return kind === null ? Number.NEGATIVE_INFINITY : 0;
}

/** Looks up parts of a JSON text by path, in their original spelling; null if absent. Each container is scanned once. */
export function jsonParts(text: string): (path: readonly PropertyKey[]) => string | null {
  const known = new Map<string, ReadonlyMap<string, string>>();
  const partsOf = (container: string, place: string) => {
    const written = () =>
      new Map([...membersOf(container)].map(({ key, from, to }) => [key, container.slice(from, to)]));
    const parts = known.get(place) ?? written();
    known.set(place, parts);
    return parts;
  };
  return path => {
    let part: string | undefined = text;
    for (const [depth, key] of path.entries()) {
      if (part === undefined) return null;
      part = partsOf(part, JSON.stringify(path.slice(0, depth).map(String))).get(String(key));
    }
    return part ?? null;
  };
}

/**
 * Serializes a value as an earlier JSON text has it: its members in its order, long numbers, repeated keys and escapes. Only values that
 * differ are written anew; members that the text does not have are left out.
 */
export function formatLike(earlier: string, value: unknown): string {
  const text = earlier.replace(/^\uFEFF/, '');
  if (!parseJson(text).ok) return JSON.stringify(value);
  const tokens = new JsonTokens(text);
  return valueLike(text, writtenValue(tokens, tokens.next()), value);
}

/** A value in a JSON text: its half-open range, and the members or items in it. */
interface WrittenValue {
  readonly from: number;
  readonly to: number;
  /** The key of an item is its index; a repeated key stands several times. */
  readonly parts: readonly { readonly key: string; readonly part: WrittenValue }[];
}

/** Reads the value that begins with the current token. The text is valid, and read once, however deep it is. */
function writtenValue(tokens: JsonTokens, kind: JsonTokenKind | null): WrittenValue {
  const { from, token } = tokens;
  const parts: { key: string; part: WrittenValue }[] = [];
  if (kind !== 'open') return { from, to: tokens.to, parts };
  for (let next = tokens.next(); next && next !== 'close'; next = tokens.next()) {
    if (next === 'comma') continue;
    if (token === '[') {
      parts.push({ key: String(parts.length), part: writtenValue(tokens, next) });
      continue;
    }
    const key = String(JSON.parse(tokens.token));
    tokens.next(); // the colon
    parts.push({ key, part: writtenValue(tokens, tokens.next()) });
  }
  return { from, to: tokens.to, parts };
}

function valueLike(text: string, written: WrittenValue, value: unknown): string {
  const first = text[written.from];
  if (Array.isArray(value) && first === '[') return listLike(text, written, value);
  if (isRecord(value) && first === '{') return objectLike(text, written, value);
  const isScalar = first !== '[' && first !== '{';
  const source = isScalar ? text.slice(written.from, written.to) : '';
  return isScalar && JSON.parse(source) === value ? source : JSON.stringify(value);
}

function listLike(text: string, { parts }: WrittenValue, items: readonly unknown[]): string {
  const texts = items.map((item, index) => {
    const written = parts[index];
    return written ? valueLike(text, written.part, item) : JSON.stringify(item);
  });
  return `[${texts.join()}]`;
}

/** The value of a repeated key is the last one; the others stay as they are. */
function objectLike(
  text: string,
  { parts }: WrittenValue,
  members: Readonly<Record<string, unknown>>,
): string {
  const last = new Map(parts.map(({ key, part }) => [key, part]));
  const source = ({ from, to }: WrittenValue) => text.slice(from, to);
  const texts = parts
    .filter(({ key }) => members[key] !== undefined)
    .map(({ key, part }) => {
      const effective = last.get(key) ?? part;
      const isEffective = part === effective || source(part) === source(effective);
      return `${JSON.stringify(key)}:${isEffective ? valueLike(text, part, members[key]) : source(part)}`;
    });
  return `{${texts.join()}}`;
}
