import { rememberNumbers } from './exact-json.js';
import { jsonFault } from './json-fault.js';
import { diagnose } from './json-notes.js';
import { LIMITS } from './limits.js';
import { decodeUtf8 } from './text.js';

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
