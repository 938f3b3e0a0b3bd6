import { scanJson } from './json-scan.js';

/** Deeper than this nobody nests on purpose, and re-serialising overflows the stack at a few thousand (threats, row 18). */
export const MAX_DEPTH = 128;
const MAX_NOTES = 8;

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
  if (found.tooDeep) return { ok: false, reason: `the JSON is nested deeper than ${MAX_DEPTH} levels` };
  try {
    const value: unknown = JSON.parse(text);
    const notes = marked ? ['the body starts with a byte-order mark', ...found.notes] : found.notes;
    return { ok: true, value, notes };
  } catch (error) {
    return { ok: false, reason: `not valid JSON: ${error instanceof Error ? error.message : 'unreadable'}` };
  }
}

function decodeUtf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

function diagnose(text: string): { tooDeep: boolean; notes: string[] } {
  const notes = new Set<string>();
  const note = (message: string) => notes.size < MAX_NOTES && notes.add(message);
  const keys: Set<string>[] = [];
  let tooDeep = false;
  let pending: string | null = null;
  scanJson(text, (kind, from, to) => {
    if (kind === 'open') tooDeep = keys.push(new Set()) > MAX_DEPTH;
    else if (kind === 'close') keys.pop();
    else if (kind === 'string') pending = to - from < 1024 ? text.slice(from, to) : null;
    else if (kind === 'colon' && pending !== null) noteRepeatedKey(pending, keys.at(-1), note);
    else if (kind === 'scalar') noteLossyNumber(text.slice(from, Math.min(to, from + 400)), note);
    return !tooDeep;
  });
  if (/\\u[dD][89a-fA-F]/.test(text)) noteLoneSurrogate(text, note);
  return { tooDeep, notes: [...notes] };
}

function noteRepeatedKey(key: string, seen: Set<string> | undefined, note: (message: string) => void): void {
  if (seen?.has(key)) note(`the key ${key} is there twice in one object; the last one counts`);
  seen?.add(key);
}

function noteLossyNumber(literal: string, note: (message: string) => void): void {
  const value = Number(literal);
  if (literal === 'true' || literal === 'false' || literal === 'null' || Number.isNaN(value)) return;
  if (!Number.isFinite(value)) note(`the number ${literal.slice(0, 40)} is too large to hold`);
  else if (Number.isInteger(value) && !Number.isSafeInteger(value) && /^-?\d+$/.test(literal))
    note(`the number ${literal.slice(0, 40)} cannot be held exactly`);
}

function noteLoneSurrogate(text: string, note: (message: string) => void): void {
  const pairsRemoved = text.replace(/\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}/g, '');
  if (/\\u[dD][89a-fA-F]/.test(pairsRemoved)) note('a string holds a lone surrogate (half of a UTF-16 pair)');
}
