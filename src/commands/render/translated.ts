import type { DialectName } from '../../dialects/dialect.js';
import { dialectOf, translate } from '../../dialects/index.js';
import { ProtocolCliError } from '../../errors.js';
import type { Warning } from '../../protocol/requirements.js';
import { isRecord } from '../../text/is-record.js';
import { parseJson } from '../../text/json.js';
import { lossyNumberNotes } from '../../text/json-diagnosis.js';
import { jsonParts } from '../../text/json-members.js';
import { onOneLine } from '../../text/json-one-line.js';
import { prettyJson } from '../../text/json-pretty.js';
import { safeJson, safeSource } from '../../text/json-safe.js';
import type { Saved, SavedAnswer } from './kinds/kind.js';

/** Answers on another wire. */
export interface Translated {
  /** One object, or a line for each of several. */
  readonly lines: readonly string[];
  /** What got lost. */
  readonly warnings: readonly Warning[];
}

/** Where a saved thing is from. */
export interface Origin {
  /** For a message. */
  readonly name: string;
  /** All of its JSON, as it was written; asked for where an answer says that it stands in it. */
  text(): string;
}

/**
 * The answers that a saved thing holds, as JSON of another wire; on their own one as they were written, to the last digit.
 * @throws ProtocolCliError `usage` where it holds none
 */
export function translated(saved: Saved, to: DialectName, origin: Origin): Translated {
  const answers = saved.answers?.(to) ?? [];
  if (answers.length === 0)
    throw new ProtocolCliError(
      'usage',
      `${origin.name} holds no answer of a tool that --as ${to} could write`,
      {
        hint: 'A tool_result, a report, a transcript, a settled call, a ToolCallResult and a CallToolResult hold one.',
      },
    );
  const sourceOf = sourcesIn(origin);
  const isOnly = answers.length === 1;
  const writings = answers.map(answer => written(answer, to, { source: sourceOf(answer), isOnly }));
  return {
    lines: writings.map(({ line }) => line),
    warnings: writings.flatMap(({ losses }) => losses.map(message => ({ message }))),
  };
}

function sourcesIn(origin: Origin): (answer: SavedAnswer) => string | null {
  let part: ReturnType<typeof jsonParts> | undefined;
  return ({ at, source }) => {
    if (source !== undefined || at === undefined) return source ?? null;
    part ??= jsonParts(origin.text());
    return part(at);
  };
}

interface Form {
  /** The JSON of the answer as it was written; null where nobody wrote it. */
  readonly source: string | null;
  /** Whether it may take more than a line. */
  readonly isOnly: boolean;
}

function written(answer: SavedAnswer, to: DialectName, { source, isOnly }: Form) {
  if (answer.dialect === to && source !== null) {
    const isWhole = answer.at?.length === 0;
    const line = isOnly ? ((isWhole ? null : prettyJson(source)) ?? source) : onOneLine(source);
    return { line: safeSource(line), losses: emptyIds(answer.native, to) };
  }
  const { body, losses } = 'answer' in answer ? translate(answer, to) : { body: answer.native, losses: [] };
  const numbers = lossyNumbers(answer, source).map(
    note => `${dialectOf(to).title} gets another number: ${note}`,
  );
  return {
    line: safeJson(body, isOnly ? 2 : undefined),
    losses: [...losses.map(({ message }) => message), ...emptyIds(body, to), ...numbers],
  };
}

/** Without them a runtime cannot match the result to a call (TOOL-ID, TOOL-GROUP). */
function emptyIds(body: unknown, to: DialectName): string[] {
  if (to !== 'rap' || !isRecord(body)) return [];
  const empty = ['id', 'group_id'].filter(name => body[name] === '');
  return empty.length === 0
    ? []
    : [
        `${empty.join(' and ')} ${empty.length === 1 ? 'is' : 'are'} empty: fill in the ids of the invocation, or no runtime will match this result`,
      ];
}

/** What reading made another number of; LM-Kit has its payload as a text, which is read too. */
function lossyNumbers({ dialect, native }: SavedAnswer, source: string | null): readonly string[] {
  const payload = dialect === 'lmkit' && isRecord(native) ? native['ResultJson'] : undefined;
  const isRead = typeof payload === 'string' && parseJson(payload).ok;
  return [...lossyNumberNotes(source ?? ''), ...(isRead ? lossyNumberNotes(payload) : [])];
}
