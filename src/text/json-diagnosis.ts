import { scanJson } from './json-scan.js';

/** Deeper than this nobody nests on purpose, and re-serialising overflows the stack at a few thousand (threats, row 18). */
export const MAX_DEPTH = 128;
const MAX_NOTES = 8;
/** Longer ones are not looked into: they are no mistake that anybody makes. */
const LONGEST_NUMBER = 400;
const LONGEST_KEY = 1024;

export interface Diagnosis {
  readonly isTooDeep: boolean;
  /** What `JSON.parse` would pass over in silence. */
  readonly notes: readonly string[];
}

/** Looks a JSON text over before it is parsed: its depth, keys that are there twice, numbers that cannot be held (threats, row 20). */
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

/** Of the numbers in a JSON text, those that `JSON.parse` makes others of: a note for each. */
export function lossyNumberNotes(text: string): readonly string[] {
  const notes = new Set<string>();
  scanJson(text, (kind, from, to) => {
    if (kind === 'scalar')
      noteLossyNumber(text.slice(from, Math.min(to, from + LONGEST_NUMBER)), note => notes.add(note));
    return notes.size < MAX_NOTES;
  });
  return [...notes];
}

/** The keys of one object. Most have few, and a list of a few is quicker than a set of them. */
class SeenKeys {
  readonly #few: string[] = [];
  #many: Set<string> | undefined;

  /** Whether it was seen before; now it has been. */
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
  if (seen?.isKnown(key)) note(`the key ${token} is there twice in one object; the last one counts`);
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

/** Half of a UTF-16 pair can only come from an escape, since the bytes themselves were valid UTF-8. */
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
