import { parseJson } from '../util/json.js';
import { safeJson } from '../util/safe-json.js';
import { visibleLine } from '../util/visible.js';

/** The arguments of a call as a command line has them: `key=value` words, or all in one option. */
interface ArgumentWords {
  readonly words: readonly string[];
  readonly options: readonly string[];
}

/** Writes arguments as words of a command line of this program. */
export function argumentWords(args: Readonly<Record<string, unknown>>): ArgumentWords {
  const entries = Object.entries(args);
  if (!entries.every(([key]) => isKey(key))) return { words: [], options: ['--args', safeJson(args)] };
  return { words: entries.map(([key, value]) => argumentWord(key, value)), options: [] };
}

/** A text that a schema could convert to another value is written as JSON. */
function argumentWord(key: string, value: unknown): string {
  const isPlain =
    typeof value === 'string' && isVisible(value) && !value.startsWith('@') && !parseJson(value).ok;
  return isPlain ? `${key}=${value}` : `${key}:=${safeJson(value)}`;
}

function isKey(key: string): boolean {
  return key !== '' && !key.includes('=') && !key.endsWith(':') && isVisible(key);
}

/** Whether no character controls the terminal or is invisible. */
export function isVisible(word: string): boolean {
  return visibleLine(word) === word;
}
