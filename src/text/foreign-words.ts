import { compactJson } from './compact-json.js';

/** A foreign value in words: a text as it is, all else as JSON. Never throws, as `String` does for `{"toString":1}`. */
export function foreignWords(value: unknown): string {
  return typeof value === 'string' ? value : (compactJson(value) ?? '');
}
