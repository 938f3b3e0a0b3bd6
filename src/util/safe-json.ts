import { HASH_COMMAND } from './ci-commands.js';
import { exactJson } from './exact-json.js';
import { HIDDEN } from './visible.js';

/** Invisible characters, and the `#` of CI commands. In JSON, no other command is at the start of a line. */
const UNSAFE = new RegExp(`${HIDDEN.source}|${HASH_COMMAND.source}`, 'gu');

/**
 * JSON that is safe on a terminal and in a CI log: characters that `JSON.stringify` does not escape (C1, DEL, bidi, invisible) are
 * written as `\uXXXX`.
 */
export function safeJson(value: unknown, indent?: number): string {
  return safeSource(exactJson(value, { indent }));
}

/** A JSON text with only unsafe characters escaped. */
export function safeSource(text: string): string {
  return text.replace(UNSAFE, character =>
    /[\n\r\t]/.test(character) ? character : escapeCharacters(character),
  );
}

/** Each UTF-16 code unit of a text as `\uXXXX`. */
export function escapeCharacters(text: string): string {
  return [...Array(text.length).keys()]
    .map(at => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');
}
