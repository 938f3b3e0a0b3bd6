import { isDeepStrictEqual } from 'node:util';
import type * as z from 'zod/mini';
import { outcomeOfPayload, outcomeOfText } from '../../outcome/conventions.js';
import type { JudgedOutcome } from '../../outcome/outcome.js';
import { callToolResultSchema } from '../../protocol/mcp/call-tool-result.js';
import { isRecord } from '../../text/is-record.js';
import { checked, otherFields } from '../checked.js';
import { type Block, extrasOf, gather } from '../content.js';
import type { Answer, Reading } from '../dialect.js';
import { words } from '../sentence.js';
import { blockOf, blockText, KNOWN_OF_BLOCKS } from './blocks.js';

/** Which MCP allows, so that nobody is to blame. */
export const IS_ERROR_LEFT_OUT = 'isError is left out; success is assumed';

const KNOWN = ['content', 'isError', 'structuredContent', '_meta'];

type CallToolResult = z.infer<typeof callToolResultSchema>;

/** A CallToolResult, as a server sent it. Payloads are never looked into to see whether they look like results (seed 003). */
export function readCallToolResult(native: unknown): Reading {
  const validation = checked(callToolResultSchema, native);
  if (!validation.ok) return validation;
  const result = validation.value;
  const { isError, content = [] } = result;
  if (result.content === undefined && isError === undefined && result.structuredContent === undefined)
    return { ok: false, faults: ['$.content: is required'] };
  const written = writtenContent(native);
  const blocks = content.map((block, index) => asWritten(blockOf(block), written[index]));
  const { text, beside } = gather(blocks);
  const outcome = outcomeOf(result, text);
  const payload = payloadOf(result, text);
  const answer: Answer = {
    call: { id: null },
    outcome,
    ...(payload !== undefined && { payload }),
    beside: { ...beside, ...besideContent(result, native, { outcome, text }) },
  };
  const told = content.length > 0 ? content.map(blockText).join('\n') : (words(payload) ?? '');
  return { ok: true, dialect: 'mcp', native, answer, text: told, notes: notesOf(result, blocks) };
}

/** As it came: the schema passes over an own `__proto__`. */
function writtenContent(native: unknown): readonly unknown[] {
  const content = isRecord(native) ? native['content'] : undefined;
  return Array.isArray(content) ? content : [];
}

function asWritten(block: Block, written: unknown): Block {
  return block.kind === 'other' ? { kind: 'other', block: written } : block;
}

function outcomeOf({ isError, structuredContent }: CallToolResult, text: string | undefined): JudgedOutcome {
  if (isError === undefined) return { type: 'success', basis: 'assumed' };
  if (!isError) return { type: 'success', basis: 'declared' };
  const documented = outcomeOfPayload(structuredContent);
  if (documented === null)
    return { type: 'error', message: text ?? words(structuredContent) ?? '', basis: 'declared' };
  if (documented.type !== 'error') return { ...documented, basis: 'convention' };
  return { ...documented, message: text ?? documented.message, basis: 'declared' }; // the text is what the model gets
}

/** Without a content block, structured content is all there is. */
function payloadOf({ content = [], structuredContent }: CallToolResult, text: string | undefined): unknown {
  return content.length === 0 ? structuredContent : text;
}

interface Told {
  readonly outcome: JudgedOutcome;
  readonly text: string | undefined;
}

function besideContent(result: CallToolResult, native: unknown, told: Told): Answer['beside'] {
  const { structuredContent } = result;
  const { _meta: meta, content } = isRecord(native) ? native : {}; // the schema passes over an own `__proto__`
  const others = {
    ...otherFields(native, KNOWN),
    ...extrasOf(content, KNOWN_OF_BLOCKS),
    ...otherWords(told),
  };
  const isBeside = structuredContent !== undefined && !isTold(told.outcome, structuredContent);
  return {
    ...(isBeside && { 'structured content': structuredContent }),
    ...(meta !== undefined && { meta }),
    ...(Object.keys(others).length > 0 && { 'other fields': others }),
  };
}

/** Of an outcome that structured content tells, the text is its payload once more, or words that have no place elsewhere. */
function otherWords({ outcome, text }: Told): Readonly<Record<string, unknown>> {
  const isOther = outcome.basis === 'convention' && text !== undefined;
  return isOther && !isDeepStrictEqual(outcomeOfText(text), outcome) ? { content: text } : {};
}

/** Whether the outcome says all that structured content does. */
function isTold(outcome: JudgedOutcome, structuredContent: unknown): boolean {
  const documented = outcome.type === 'success' ? null : outcomeOfPayload(structuredContent);
  if (documented?.type !== 'error') return documented !== null;
  return outcome.type === 'error' && outcome.message === documented.message;
}

function notesOf(
  { isError, content, structuredContent }: CallToolResult,
  blocks: readonly Block[],
): string[] {
  const isBare = blocks.length === 0 && structuredContent !== undefined;
  return [
    ...(isError === undefined ? [IS_ERROR_LEFT_OUT] : []),
    ...(content === undefined ? ['content is left out'] : []),
    ...(isBare ? ['there is structured content and no content block, which older clients need'] : []),
  ];
}
