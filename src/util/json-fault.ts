import { type JsonTokenKind, JsonTokens } from './json-tokens.js';
import { truncateBeforeToken } from './text.js';

/** Position of a syntax error, which `JSON.parse` does not always report. */
export interface JsonFault {
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

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
