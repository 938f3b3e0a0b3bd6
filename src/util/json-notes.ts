import { JsonTokens } from './json-tokens.js';
import { LIMITS } from './limits.js';

const MAX_NOTES = 8;

/** Maximum length of a number to check, in characters. */
const MAX_NUMBER_LENGTH = 400;

const MAX_KEY_LENGTH = 1024;

/** Returns a note for each number in a JSON text that `JSON.parse` would change. */
export function lossyNumberNotes(text: string): readonly string[] {
  return diagnose(text).notes.filter(note => note.startsWith('the number '));
}

/** What `JSON.parse` does not report about a JSON text. */
export interface JsonDiagnosis {
  readonly isTooDeep: boolean;
  /** Notes about repeated keys and about numbers that cannot be represented. */
  readonly notes: readonly string[];
}

/** Checks a JSON text before parsing: depth, repeated keys, numbers that would be written as others (threats, row 20). */
export function diagnose(text: string): JsonDiagnosis {
  const notes: string[] = [];
  const note: AddNote = message => {
    if (notes.length < MAX_NOTES && !notes.includes(message)) notes.push(message);
  };
  /** The keys so far of each object that contains the token; null for a list. */
  const containers: (Set<string> | null)[] = [];
  const tokens = new JsonTokens(text);
  let keyFrom = 0;
  let keyTo = 0;
  for (let kind = tokens.next(); kind; kind = tokens.next()) {
    const { from, to } = tokens;
    switch (kind) {
      case 'open':
        containers.push(text[from] === '{' ? new Set() : null);
        if (containers.length > LIMITS.jsonDepth.value) return { isTooDeep: true, notes };
        break;
      case 'close':
        containers.pop();
        break;
      case 'string':
        keyFrom = from;
        keyTo = to;
        break;
      case 'colon':
        noteRepeatedKey(text.slice(keyFrom, keyTo), containers.at(-1), note);
        break;
      case 'scalar':
        noteLossyNumber(text.slice(from, Math.min(to, from + MAX_NUMBER_LENGTH)), note);
        break;
      default: // a comma changes nothing
    }
  }
  return { isTooDeep: false, notes };
}

/** Adds a note, unless it is there already or there are too many. */
type AddNote = (message: string) => void;

function noteRepeatedKey(token: string, keys: Set<string> | null | undefined, note: AddNote): void {
  if (!keys || token.length > MAX_KEY_LENGTH) return;
  const key = token.includes('\\') ? unescaped(token) : token;
  const { size } = keys;
  if (keys.add(key).size === size) note(`the key ${token} occurs twice in one object; the last one is used`);
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

/** Other numbers survive; this check is cheaper than to convert each number there and back. */
const MAY_BE_LOSSY = /^-?(?:\d{16}|\d.*e)/i;

function noteLossyNumber(literal: string, note: AddNote): void {
  if (!MAY_BE_LOSSY.test(literal)) return;
  const value = Number(literal);
  if (Number.isNaN(value) || String(value) === literal) return;
  if (!Number.isFinite(value)) note(`the number ${literal.slice(0, 40)} is too large to hold`);
  else if (/^-?\d{16,}$/.test(literal) && BigInt(literal) !== BigInt(value))
    note(`the number ${literal.slice(0, 40)} ${INEXACT}`);
}
