import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import {
  itemText,
  type JudgedOutcome,
  type Outcome,
  outcomeOfPayload,
  outcomeOfText,
  payloadOfOutcome,
} from '../protocol/outcome.js';
import { bytesText, excerpt, truncate } from '../util/text.js';
import { compactJson, isRecord, stringOrJson, valueAt } from '../util/values.js';
import {
  type Answer,
  type Block,
  type Dialect,
  fromBlocks,
  imagesOf,
  otherFields,
  outcomeSentence,
  payloadText,
  type Reading,
  resourceIn,
  unsupported,
  validateNative,
  type Writing,
  warnOf,
} from './dialect.js';

/** A content block. Its type is open, so that blocks of later MCP versions are kept. */
const contentBlockSchema = z.looseObject({ type: z.string() }).check(({ value, issues }) => {
  for (const key of NEEDED[value.type] ?? [])
    if (typeof value[key] !== 'string')
      issues.push({ code: 'custom', input: value, path: [key], message: 'must be a string' });
});

/** The required members of each known block type. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  image: ['data', 'mimeType'],
};

/** The result of MCP's `tools/call`. Without `isError`, success is assumed. */
const callToolResultSchema = z.object({
  content: z.optional(z.array(contentBlockSchema)),
  isError: z.optional(z.boolean()),
  structuredContent: z.optional(z.unknown()),
  _meta: z.optional(z.record(z.string(), z.unknown())),
});

const TITLE = 'a CallToolResult of MCP';

const SUPPORTED = new Set([
  ...(['success', 'error', 'canceled', 'timeout', 'denied'] as const),
  ...(['error code', 'error type', 'error data'] as const),
  ...(['no payload', 'images', 'other content', 'structured content', 'meta'] as const),
]);

const FIELDS = Object.keys(callToolResultSchema.shape);

const BLOCK_FIELDS = { text: ['type', 'text'], image: ['type', 'data', 'mimeType'] };

export const IS_ERROR_LEFT_OUT = 'isError is left out; success is assumed';

/** The result of `tools/call` (seed 003). */
export const mcpDialect: Dialect = { name: 'mcp', title: TITLE, read, write };

type CallToolResult = z.infer<typeof callToolResultSchema>;

type ContentBlock = Readonly<Record<string, unknown>> & { readonly type: string };

/** Never guesses from the payload whether the result is an error (seed 003). */
function read(native: unknown): Reading {
  const validation = validateNative(callToolResultSchema, native);
  if (!validation.ok) return validation;
  const result = validation.value;
  const { isError, content = [], structuredContent } = result;
  if (result.content === undefined && isError === undefined && structuredContent === undefined)
    return { ok: false, faults: ['$.content: is required'] };
  const raw = isRecord(native) && Array.isArray(native['content']) ? native['content'] : [];
  const { text, beside } = fromBlocks(content.map((block, index) => blockOf(block, raw[index])));
  const outcome = outcomeIn(result, text);
  const payload = content.length === 0 ? structuredContent : text;
  const answer: Answer = {
    call: { id: null },
    outcome,
    ...(payload !== undefined && { payload }),
    beside: { ...beside, ...besideContent(result, native, outcome, text) },
  };
  const isBare = content.length === 0 && structuredContent !== undefined;
  const notes = [
    ...(isError === undefined ? [IS_ERROR_LEFT_OUT] : []),
    ...(result.content === undefined ? ['content is left out'] : []),
    ...(isBare ? ['there is structured content and no content block, which older clients need'] : []),
  ];
  const shown = content.length > 0 ? content.map(blockText).join('\n') : (payloadText(payload) ?? '');
  return { ok: true, dialect: 'mcp', native, answer, text: shown, notes };
}

/** @param raw the block as received: the schema ignores an own `__proto__` */
function blockOf(block: ContentBlock, raw: unknown): Block {
  const { type, text, data, mimeType: mediaType } = block;
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text };
  const isImage = type === 'image' && typeof data === 'string' && typeof mediaType === 'string';
  return isImage ? { kind: 'image', image: { data, mediaType } } : { kind: 'other', block: raw };
}

/** The text of a block for the LLM: the text of an embedded resource, and a line in brackets for other types. */
function blockText(block: ContentBlock): string {
  const known = blockOf(block, block);
  if (known.kind === 'text') return known.text;
  if (known.kind === 'image') return itemText({ type: 'image', ...known.image });
  const { text } = resourceIn(block);
  return typeof text === 'string' ? text : placeholder(block);
}

/** The text of a block for the user: an embedded resource begins with its URI. */
export function humanBlockText(block: ContentBlock): string {
  const text = blockText(block);
  return typeof resourceIn(block)['text'] === 'string' ? `${placeholder(block)}\n${text}` : text;
}

function placeholder(block: ContentBlock): string {
  const { uri, mimeType, blob } = block.type === 'resource' ? resourceIn(block) : block;
  const named = [uri, mimeType]
    .filter(each => typeof each === 'string')
    .map(each => excerpt(stringOrJson(each)));
  const size = typeof blob === 'string' ? [bytesText(Buffer.byteLength(blob, 'base64'))] : [];
  return `[${[truncate(block.type, 60), ...named, ...size].join(' ')}]`;
}

function outcomeIn({ isError, structuredContent }: CallToolResult, text: string | undefined): JudgedOutcome {
  if (!isError) return { type: 'success', basis: isError === undefined ? 'assumed' : 'declared' };
  const documented = outcomeOfPayload(structuredContent);
  if (documented === null)
    return { type: 'error', message: text ?? payloadText(structuredContent) ?? '', basis: 'declared' };
  if (documented.type !== 'error') return { ...documented, basis: 'convention' };
  return { ...documented, message: text ?? documented.message, basis: 'declared' }; // the text is what the model gets
}

function besideContent(
  { structuredContent }: CallToolResult,
  native: unknown,
  outcome: JudgedOutcome,
  text: string | undefined,
): Answer['beside'] {
  const meta = valueAt(native, '_meta');
  // For an outcome in structured content, the text is the same outcome, or words of its own.
  const hasOtherText =
    outcome.basis === 'convention' && text !== undefined && !isDeepStrictEqual(outcomeOfText(text), outcome);
  const documented = outcome.type === 'success' ? null : outcomeOfPayload(structuredContent);
  const isOutcome =
    documented?.type === 'error'
      ? outcome.type === 'error' && outcome.message === documented.message
      : documented !== null;
  return {
    ...(structuredContent !== undefined && !isOutcome && { 'structured content': structuredContent }),
    ...(meta !== undefined && { meta }),
    ...otherFields(native, FIELDS, BLOCK_FIELDS, hasOtherText ? { content: text } : {}),
  };
}

/** `isError` is always written; `structuredContent` and `_meta` only if they are set (seed 003). */
function write(answer: Answer): Writing {
  const { outcome, beside = {} } = answer;
  const { meta, 'structured content': own, 'other content': others } = beside;
  const text = textOf(answer);
  const content = [
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...imagesOf(answer).map(({ data, mediaType }) => ({ type: 'image', data, mimeType: mediaType })),
    ...(Array.isArray(others) ? others : []),
  ];
  const needed = structureOf(outcome);
  const isReplaced = needed !== null && !hasSameError(own, outcome);
  const structured = isReplaced ? needed : own;
  const warnings = unsupported(TITLE, SUPPORTED, answer);
  if (isReplaced && own !== undefined) warnings.push(warnOf(TITLE, 'structured content', own));
  const isBare = content.length === 0 && structured !== undefined; // then it is read as the payload
  if (isBare && outcome.type === 'success') warnings.push(warnOf(TITLE, 'no payload', true));
  const body = {
    content,
    ...(structured !== undefined && { structuredContent: structured }),
    isError: outcome.type !== 'success',
    ...(meta !== undefined && { _meta: meta }),
  };
  return { body, warnings };
}

/** The payload as a text: a string unchanged, other JSON compact (seed 003). */
function textOf(answer: Answer): string | undefined {
  const { outcome, payload } = answer;
  if (outcome.type === 'success') return payloadText(payload);
  const isByConvention = outcome.type !== 'error' && outcome.type !== 'unknown';
  return (isByConvention ? compactJson(payloadOfOutcome(outcome)) : null) ?? outcomeSentence(answer);
}

/** The structured content that an outcome needs; null if `isError` is enough. */
function structureOf(outcome: Outcome): object | null {
  const { code, errorType, data } = outcome.type === 'error' ? outcome : { code: outcome.type };
  const isPlain = [code, errorType, data].every(each => each === undefined);
  return isPlain ? null : payloadOfOutcome(outcome);
}

/** Whether structured content already has the code, type and data of an error. */
function hasSameError(own: unknown, outcome: Outcome): boolean {
  const documented = outcomeOfPayload(own);
  if (documented?.type !== 'error' || outcome.type !== 'error') return false;
  const { code, errorType, data } = outcome;
  return (
    documented.code === code && documented.errorType === errorType && isDeepStrictEqual(documented.data, data)
  );
}
