/** Tokens of a JSON text, also of one that `JSON.parse` would change or reject. */
export type JsonTokenKind = 'open' | 'close' | 'string' | 'scalar' | 'comma' | 'colon';

/** Gets each token's half-open range; returns `false` to stop. */
type JsonVisitor = (kind: JsonTokenKind, from: number, to: number) => unknown;

const KINDS: Readonly<Record<string, JsonTokenKind | 'blank'>> = {
  '{': 'open',
  '[': 'open',
  '}': 'close',
  ']': 'close',
  ',': 'comma',
  ':': 'colon',
  '"': 'string',
  ' ': 'blank',
  '\n': 'blank',
  '\r': 'blank',
  '\t': 'blank',
};

/** By character code, which is ten times faster than by string; other characters belong to scalars. */
const BY_CODE = Array.from({ length: 128 }, (_, code) => KINDS[String.fromCharCode(code)]);

/** Visits the tokens in linear time and constant space, without checking validity. */
export function scanJson(text: string, visit: JsonVisitor): void {
  for (let at = 0; at < text.length; ) {
    const kind = BY_CODE[text.charCodeAt(at)] ?? 'scalar';
    const to = kind === 'string' ? stringEnd(text, at) : kind === 'scalar' ? scalarEnd(text, at) : at + 1;
    if (kind !== 'blank' && visit(kind, at, to) === false) return;
    at = to;
  }
}

function stringEnd(text: string, from: number): number {
  for (let quote = text.indexOf('"', from + 1); quote >= 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === 0x5c) slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return text.length;
}

function scalarEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && !endsScalar(text.charCodeAt(at))) at++;
  return at;
}

function endsScalar(code: number): boolean {
  const kind = BY_CODE[code];
  return kind !== undefined && kind !== 'string';
}

/** The maximum nesting; serializing overflows the stack at a few thousand (threats, row 18). */
export const MAX_DEPTH = 128;

const MAX_NOTES = 8;

/** Longer numbers are not checked. */
const LONGEST_NUMBER = 400;

const LONGEST_KEY = 1024;

interface Diagnosis {
  readonly isTooDeep: boolean;
  /** Problems that `JSON.parse` ignores. */
  readonly notes: readonly string[];
}

/** Checks a JSON text before parsing: depth, repeated keys, numbers that cannot be represented (threats, row 20). */
export function diagnose(text: string): Diagnosis {
  const notes = new Set<string>();
  const note = (message: string) => notes.size < MAX_NOTES && notes.add(message);
  const keys: SeenKeys[] = [];
  let isTooDeep = false;
  let wordFrom = 0;
  let wordTo = 0;
  scanJson(text, (kind, from, to) => {
    if (kind === 'open') isTooDeep = keys.push(new SeenKeys()) > MAX_DEPTH;
    else if (kind === 'close') keys.pop();
    else if (kind === 'string') {
      wordFrom = from;
      wordTo = to;
    } else if (kind === 'colon') noteRepeatedKey(text.slice(wordFrom, wordTo), keys.at(-1), note);
    else if (kind === 'scalar') noteLossyNumber(text.slice(from, Math.min(to, from + LONGEST_NUMBER)), note);
    return !isTooDeep;
  });
  return { isTooDeep, notes: [...notes] };
}

/** A note for each number in a JSON text that `JSON.parse` would change. */
export function lossyNumberNotes(text: string): readonly string[] {
  const notes = new Set<string>();
  scanJson(text, (kind, from, to) => {
    if (kind === 'scalar')
      noteLossyNumber(text.slice(from, Math.min(to, from + LONGEST_NUMBER)), note => notes.add(note));
    return notes.size < MAX_NOTES;
  });
  return [...notes];
}

/** The keys of one object: a list while there are few, which is faster than a set. */
class SeenKeys {
  readonly #few: string[] = [];
  #many: Set<string> | undefined;

  /** Whether the key was seen before; remembers it. */
  isKnown(key: string): boolean {
    const isKnown = this.#many ? this.#many.has(key) : this.#few.includes(key);
    if (isKnown) return true;
    if (this.#many) this.#many.add(key);
    else if (this.#few.push(key) > FEW) this.#many = new Set(this.#few);
    return false;
  }
}

const FEW = 16;

function noteRepeatedKey(token: string, seen: SeenKeys | undefined, note: (message: string) => void): void {
  if (token.length > LONGEST_KEY) return;
  const key = token.includes('\\') ? unescaped(token) : token;
  if (seen?.isKnown(key)) note(`the key ${token} occurs twice in one object; the last one is used`);
}

function unescaped(token: string): string {
  try {
    return JSON.stringify(JSON.parse(token));
  } catch {
    return token;
  }
}

function noteLossyNumber(literal: string, note: (message: string) => void): void {
  const value = Number(literal);
  if (!/^-?\d/.test(literal) || Number.isNaN(value)) return;
  if (!Number.isFinite(value)) note(`the number ${literal.slice(0, 40)} is too large to hold`);
  else if (/^-?\d{16,}$/.test(literal) && BigInt(literal) !== BigInt(value))
    note(`the number ${literal.slice(0, 40)} cannot be held exactly`);
}

/** A lone surrogate can only come from an escape, since the bytes were valid UTF-8. */
export function loneSurrogateNotes(text: string, value: unknown): readonly string[] {
  if (!/\\u[dD][89a-fA-F]/.test(text) || isWellFormed(value)) return [];
  return ['a string holds a lone surrogate (half of a UTF-16 pair)'];
}

function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  return Object.keys(value).every(
    key => key.isWellFormed() && isWellFormed(value[key as keyof typeof value]),
  );
}
