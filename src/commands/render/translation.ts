import type { DialectName } from '../../dialects/dialect.js';
import { DIALECTS, translate } from '../../dialects/dialects.js';
import type { ProtocolCliError } from '../../util/errors.js';
import { parseJson } from '../../util/json.js';
import { lossyNumberNotes } from '../../util/json-notes.js';
import { prettyJson } from '../../util/json-text.js';
import { scanJson } from '../../util/json-tokens.js';
import { safeJson, safeSource } from '../../util/safe-json.js';
import { firstWithRest } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { usageError } from '../options.js';
import type { Input } from './input.js';
import type { Saved, SavedAnswer } from './saved.js';

/** Number of calls that a message names. */
const SHOWN_CALLS = 20;

/** The answers of a file as messages of another system. */
interface Translation {
  /** The texts to print, one for each answer. */
  readonly lines: readonly string[];
  /** What the other system cannot express. */
  readonly losses: readonly string[];
}

/**
 * Converts the answers of a saved file to another system: one object, or one per line. If the system is the same, the original JSON is
 * kept to the last digit.
 * @throws ProtocolCliError `usage` without any
 */
export function translateAnswers(saved: Saved, input: Input, to: DialectName): Translation {
  const answers = saved.answers?.(to) ?? [];
  const { unanswered = [] } = saved;
  const without = withoutResult(unanswered);
  if (answers.length === 0) throw noResult(input.name, to, without);
  const isOnly = answers.length === 1;
  const losses =
    without === null ? [] : [`${without}; --as ${to} leaves ${unanswered.length === 1 ? 'it' : 'them'} out`];
  const lines = answers.map(from => {
    const { native, answer, dialect } = from;
    const source = from.source?.() ?? null;
    if (dialect === to && source !== null) {
      losses.push(...emptyIds(native, to));
      return safeSource(isOnly ? indented(source, input) : onOneLine(source));
    }
    const { body, warnings } = answer
      ? translate({ answer, native, ...(dialect && { dialect }) }, to)
      : { body: native, warnings: [] };
    const { title = to } = DIALECTS.find(each => each.name === to) ?? {};
    const numbers = lossyNumbers(from, source).map(note => `${title} gets another number: ${note}`);
    losses.push(...warnings.map(({ message }) => message), ...emptyIds(body, to), ...numbers);
    return safeJson(body, isOnly ? 2 : 0);
  });
  return { lines, losses };
}

/** `calls 3, 5 have no result`; null without calls. */
function withoutResult(numbers: readonly number[]): string | null {
  if (numbers.length === 0) return null;
  const listed = firstWithRest(numbers.map(String), SHOWN_CALLS).join(', ');
  return numbers.length === 1 ? `call ${listed} has no result` : `calls ${listed} have no result`;
}

function noResult(name: string, to: DialectName, without: string | null): ProtocolCliError {
  if (without !== null) return usageError(`${without} in ${name}, so --as ${to} has nothing to write`);
  return usageError(
    `no tool result in ${name} that --as ${to} can write`,
    'A tool_result, a report, a transcript, a settled call, a ToolCallResult and a CallToolResult hold one.',
  );
}

/** Returns the JSON of the only answer: a whole file as it is, a part of one indented. */
function indented(source: string, input: Input): string {
  return source === input.text() ? source : (prettyJson(source) ?? source);
}

/** Without ids, no runtime can match the result to a call (TOOL-ID, TOOL-GROUP). */
function emptyIds(body: unknown, to: DialectName): string[] {
  if (to !== 'rap' || !isRecord(body)) return [];
  const empty = ['id', 'group_id'].filter(name => body[name] === '');
  if (empty.length === 0) return [];
  return [
    `${empty.join(' and ')} ${empty.length === 1 ? 'is' : 'are'} empty: fill in the ids of the invocation, or no runtime will match this result`,
  ];
}

/** Returns numbers that parsing changed. LM-Kit encodes its payload as a string, which is parsed too. */
function lossyNumbers({ dialect, native }: SavedAnswer, source: string | null): readonly string[] {
  const payload = dialect === 'lmkit' && isRecord(native) ? native['ResultJson'] : undefined;
  const isRead = typeof payload === 'string' && parseJson(payload).ok;
  return [...lossyNumberNotes(source ?? ''), ...(isRead ? lossyNumberNotes(payload) : [])];
}

/** The tokens of a JSON text, as written, without whitespace. */
function onOneLine(text: string): string {
  if (!/[\r\n]/.test(text)) return text.trim();
  const tokens: string[] = [];
  scanJson(text, (_, from, to) => tokens.push(text.slice(from, to)));
  return tokens.join('');
}
