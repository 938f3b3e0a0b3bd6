import type { Invocation } from '../../protocol/invocation.js';
import { parseJson } from '../../text/json.js';
import { safeJson } from '../../text/json-safe.js';
import { shellWord } from '../../text/shell-word.js';
import { visibleLine } from '../../text/visible.js';
import type { McpTarget, Target } from '../target.js';

/** How a call was meant. */
export interface CalledAs {
  readonly target: Target | McpTarget;
  /** Of a thread that was named; a fresh one otherwise. */
  readonly groupId: string | null;
  /** Not where the arguments went out as they were. */
  readonly validates: boolean;
}

/** What is called again. */
export interface Repeatable extends CalledAs {
  readonly invocation: Pick<Invocation, 'operation' | 'arguments' | 'user_id' | 'thread_ancestors'>;
  /** Names of headers whose values are secret: they have to be filled in. */
  readonly headers: readonly string[];
}

/** A line for a shell; or why there is none that would mean the same, as a clause. */
export type Commanded =
  | { readonly ok: true; readonly line: string }
  | { readonly ok: false; readonly why: string };

/**
 * The call as a line of this program for a POSIX shell. None where it would hold what is unseen, or could act, outside of its JSON; or
 * in that what our own reader refuses, as a number that cannot be held exactly.
 */
export function asCommand({ target, invocation, groupId, validates, headers }: Repeatable): Commanded {
  const { operation, arguments: args, user_id: user, thread_ancestors: ancestors } = invocation;
  const { words: place, options } = placeOf(target);
  const named = [...headers.map(name => ['-H', `${name}: [redacted]`]), ...options];
  if (user) named.push(['--user-id', user]);
  if (groupId !== null) named.push(['--group-id', groupId]);
  for (const ancestor of ancestors ?? []) named.push(['--ancestor', ancestor]);
  if (!validates) named.push(['--no-validate']);
  const { words: given, whole } = wordsOf(args);
  const words = [...place, operation, ...given];
  if (whole !== null) named.push(['--args', whole]);
  const line = ['protocol-cli', 'invoke', ...named.flat(), ...(words.some(isOption) ? ['--'] : []), ...words];
  const why = whyNot(operation, args, line);
  return why === null ? { ok: true, line: line.map(shellWord).join(' ') } : { ok: false, why };
}

function whyNot(operation: string, args: Invocation['arguments'], line: readonly string[]): string | null {
  if (!isOperation(operation)) return 'its operation would be read as an argument or a URL';
  const inexact = inexactness(args);
  if (inexact !== null) return `in its arguments ${inexact}`;
  return line.every(isSeen) ? null : 'it holds characters that are not seen';
}

function placeOf(target: CalledAs['target']): {
  readonly words: readonly string[];
  readonly options: string[][];
} {
  switch (target.kind) {
    case 'url':
      return { words: [target.url], options: [] };
    case 'endpoint':
      return { words: [target.url], options: [['--endpoint']] };
    case 'demo':
      return { words: [], options: [['--demo']] };
    case 'mcp': // without a URL, the servers of `.infinity/rap.json` are looked through
      return { words: [], options: [] };
    case 'command':
      return { words: [], options: [['--command', target.command]] };
  }
}

/** A word for each argument, or all at once where a key could not be one. */
function wordsOf(args: Invocation['arguments']): { readonly words: string[]; readonly whole: string | null } {
  const entries = Object.entries(args);
  if (!entries.every(([key]) => isKey(key))) return { words: [], whole: safeJson(args) };
  return { words: entries.map(([key, value]) => wordOf(key, value)), whole: null };
}

/** What a schema could make something else of is JSON, whatever the schema is. */
function wordOf(key: string, value: unknown): string {
  const isPlain =
    typeof value === 'string' && isSeen(value) && !value.startsWith('@') && !parseJson(value).ok;
  return isPlain ? `${key}=${value}` : `${key}:=${safeJson(value)}`;
}

function isKey(key: string): boolean {
  return key !== '' && !key.includes('=') && !key.endsWith(':') && isSeen(key);
}

const isOption = (word: string) => word.startsWith('-');

/** The first word after the target, and no argument. */
function isOperation(operation: string): boolean {
  return operation !== '' && !operation.includes('=') && !operation.includes('://');
}

/** What our own reader has against them; null where that is nothing. */
function inexactness(args: Invocation['arguments']): string | null {
  const reading = parseJson(safeJson(args));
  return reading.ok ? (reading.notes[0] ?? null) : reading.reason;
}

/** Nothing in it acts on a terminal, or hides there. */
function isSeen(word: string): boolean {
  return visibleLine(word) === word;
}
