import { diagnose, type JsonTokenKind, loneSurrogateNotes, MAX_DEPTH, scanJson } from './json-scan.js';
import { cut, decodeUtf8 } from './text.js';

/** Where a text stops being JSON, which `JSON.parse` does not always report. */
interface JsonFault {
  /** From 1, as `column`. */
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

type Expected = 'a value' | 'a key' | 'a key or }' | 'a value or ]' | ':' | ', or }' | ', or ]' | 'the end';

const LITERAL = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

const AFTER_COMMA: Readonly<Partial<Record<Expected, Expected>>> = { ', or }': 'a key', ', or ]': 'a value' };

const LONGEST = 40;

/** The first syntax error of a JSON text, or null. Linear at any depth. */
export function jsonFault(text: string): JsonFault | null {
  const walk = new Walk(text);
  let at = -1;
  scanJson(text, (kind, from, to) => {
    if (!walk.takes(kind, from, to)) at = from;
    return at < 0;
  });
  if (at < 0 && walk.expects === 'the end') return null;
  const place = placeOf(text, at < 0 ? text.length : at);
  const found = at < 0 ? 'the text ends' : `${JSON.stringify(tokenAt(text, at))} stands`;
  return { ...place, message: `${found} where ${walk.expects} is expected` };
}

/** Tracks which token may come next. */
class Walk {
  expects: Expected = 'a value';
  readonly #closers: ('}' | ']')[] = [];

  constructor(private readonly text: string) {}

  /** Consumes the token if it may come here. */
  takes(kind: JsonTokenKind, from: number, to: number): boolean {
    const next = this.#after(kind, from, to);
    if (next) this.expects = next;
    return next !== null;
  }

  #after(kind: JsonTokenKind, from: number, to: number): Expected | null {
    switch (kind) {
      case 'colon':
        return this.expects === ':' ? 'a value' : null;
      case 'comma':
        return AFTER_COMMA[this.expects] ?? null;
      case 'close':
        return this.#close(from);
      case 'open':
        return this.#wantsValue() ? this.#open(from) : null;
      case 'string':
        return isJson(this.text.slice(from, to)) ? this.#string() : null;
      case 'scalar':
        return this.#wantsValue() && LITERAL.test(this.text.slice(from, to)) ? this.#afterValue() : null;
    }
  }

  #string(): Expected | null {
    if (this.expects === 'a key' || this.expects === 'a key or }') return ':';
    return this.#wantsValue() ? this.#afterValue() : null;
  }

  #wantsValue(): boolean {
    return this.expects === 'a value' || this.expects === 'a value or ]';
  }

  #open(at: number): Expected {
    const isObject = this.text[at] === '{';
    this.#closers.push(isObject ? '}' : ']');
    return isObject ? 'a key or }' : 'a value or ]';
  }

  #close(at: number): Expected | null {
    const closer = this.#closers.at(-1);
    if (closer === undefined || this.text[at] !== closer || !this.expects.endsWith(closer)) return null;
    this.#closers.pop();
    return this.#afterValue();
  }

  #afterValue(): Expected {
    const closer = this.#closers.at(-1);
    return closer === undefined ? 'the end' : `, or ${closer}`;
  }
}

function isJson(token: string): boolean {
  try {
    JSON.parse(token);
    return true;
  } catch {
    return false;
  }
}

function tokenAt(text: string, at: number): string {
  const [token = ''] = /^[\w.+-]+|^./su.exec(text.slice(at, at + LONGEST + 1)) ?? [];
  return cut(token, LONGEST);
}

function placeOf(text: string, at: number): { line: number; column: number } {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', start)) {
    line++;
    start = end + 1;
  }
  return { line, column: at - start + 1 };
}

export type JsonReading =
  | { readonly ok: true; readonly value: unknown; readonly notes: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/**
 * Parses foreign bytes as JSON. Never throws: invalid input has a `reason`; input that changes when parsed (a byte-order mark, a repeated
 * key, a number that cannot be represented, a lone surrogate) has `notes` (threats, rows 18, 20, 21).
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
  if (found.isTooDeep) return { ok: false, reason: `the JSON is nested deeper than ${MAX_DEPTH} levels` };
  try {
    const value: unknown = JSON.parse(text);
    const mark = marked ? ['the body starts with a byte-order mark'] : [];
    return { ok: true, value, notes: [...mark, ...found.notes, ...loneSurrogateNotes(text, value)] };
  } catch {
    return { ok: false, reason: `not valid JSON: ${faultIn(text)}` };
  }
}

/** V8's message would quote ten characters of the text, perhaps of a secret. */
function faultIn(text: string): string {
  const fault = jsonFault(text);
  if (!fault) return 'it cannot be read';
  const line = text.includes('\n') ? `line ${fault.line}, ` : '';
  return `${fault.message} (${line}column ${fault.column})`;
}
