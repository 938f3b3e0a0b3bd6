import * as z from 'zod/mini';
import type { Translatable } from '../../../dialects/index.js';
import { answerOfMcp, answerOfOurs, answerOfResult } from '../../../exchange/answer.js';
import { readMcpAnswer } from '../../../exchange/mcp-answer.js';
import { toolResultSchema } from '../../../protocol/callbacks/tool-result.js';
import { validate } from '../../../protocol/validate.js';
import { reportSchema } from '../../../reporters/report-schema.js';
import { panesOfMcp } from '../../../story/mcp-panes.js';
import { llmPane, type Panes, panesOfResult } from '../../../story/panes.js';
import { isRecord } from '../../../text/is-record.js';
import type { Section } from '../sheet.js';

/** A report of a call as somebody saved it: whose result a wire knows. */
export const savedReportSchema = z
  .extend(reportSchema, { result: z.nullish(z.unknown()) })
  .check(({ value, issues }) => {
    for (const { path, message } of resultIssues(value))
      issues.push({ code: 'custom', input: value.result, path: ['result', ...path], message });
  });

export type SavedReport = z.infer<typeof savedReportSchema>;

interface Told {
  readonly dialect?: 'mcp' | undefined;
  readonly result?: unknown;
}

function resultIssues({
  dialect,
  result,
}: Told): { readonly path: PropertyKey[]; readonly message: string }[] {
  if (result === undefined || result === null) return [];
  if (dialect !== 'mcp') return toolResultSchema.safeParse(result).error?.issues ?? [];
  const { reading, text } = mcpAnswerOf(result);
  return reading ? [] : [{ path: [], message: text }];
}

const mcpAnswerOf = (value: unknown) => readMcpAnswer({ ok: true, value, notes: [] });

/** The answer that a report holds, for any wire. @param native its result as it came: it has more than a schema knows */
export function answerIn(
  { dialect, invocation, outcome, result }: SavedReport,
  native: unknown,
): Translatable[] {
  if (result && dialect === 'mcp') {
    const { reading } = mcpAnswerOf(native);
    return reading ? [answerOfMcp(invocation, reading)] : [];
  }
  if (result) return [answerOfResult(invocation, native) ?? []].flat();
  return outcome && invocation ? [{ answer: answerOfOurs(invocation, outcome) }] : [];
}

/** What the human saw beside what the LLM got. */
export function panesIn({ dialect, result, llm }: SavedReport, supports: ReadonlySet<string>): Section[] {
  if (isRecord(result)) return [{ kind: 'panes', ...panesOfNative(dialect, result, supports) }];
  return llm ? [{ kind: 'pane', pane: llmPane(llm.text, false) }] : [];
}

function panesOfNative(dialect: 'mcp' | undefined, result: unknown, supports: ReadonlySet<string>): Panes {
  if (dialect === 'mcp') return panesOfMcp(mcpAnswerOf(result));
  const checked = validate(toolResultSchema, result);
  if (!checked.ok) throw new Error('the schema of a saved report has seen its result');
  return panesOfResult(checked.value, supports);
}
