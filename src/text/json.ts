import { diagnose, loneSurrogateNotes, MAX_DEPTH } from './json-diagnosis.js';
import { jsonFault } from './json-fault.js';

export type JsonReading =
  | { readonly ok: true; readonly value: unknown; readonly notes: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/**
 * Bytes from elsewhere to a JSON value. Never throws: what cannot be read has a `reason`; what was read, but not as it was
 * written (a byte-order mark, a key twice, a number too large to hold, a lone surrogate), has `notes` (threats, rows 18, 20, 21).
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

/** The engine's own words would quote ten characters of whatever stands around, a secret's, too. */
function faultIn(text: string): string {
  const fault = jsonFault(text);
  if (!fault) return 'it cannot be read';
  const line = text.includes('\n') ? `line ${fault.line}, ` : '';
  return `${fault.message} (${line}column ${fault.column})`;
}

/** One for all: it remembers nothing of a text that it was given whole. */
const STRICT_UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Null where the bytes are not valid UTF-8; a byte-order mark is kept. */
export function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return STRICT_UTF8.decode(bytes);
  } catch {
    return null;
  }
}
