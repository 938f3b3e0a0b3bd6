import { isDeepStrictEqual } from 'node:util';
import type * as z from 'zod/mini';
import {
  callToolResultSchema,
  type JudgedOutcome,
  type Outcome,
  outcomeOfPayload,
  outcomeOfText,
  payloadOfOutcome,
} from '../protocol/outcome.js';
import { excerpt } from '../util/excerpt.js';
import { bytesText, compactJson, cut, isRecord } from '../util/json-diagnosis.js';
import { foreignWords } from '../util/redact-json.js';
import type { Answer, Dialect, Loss, Reading, Writing } from './dialect.js';
import { checked, lossesOf, lossOf, otherFields, sentenceOf, words } from './losses.js';
import { type Block, extrasOf, gather, imagePlaceholder, imagesOf } from './rap.js';

/** A content block of MCP that a schema has seen: its type, and what comes with that. */
type ContentBlock = Readonly<Record<string, unknown>> & { readonly type: string };

function blockOf(block: ContentBlock): Block {
  const { type, text, data, mimeType: mediaType } = block;
  if (type === 'text' && typeof text === 'string') return { kind: 'text', text };
  const isImage = type === 'image' && typeof data === 'string' && typeof mediaType === 'string';
  return isImage ? { kind: 'image', image: { data, mediaType } } : { kind: 'other', block };
}

/** The text of a block for the LLM: an embedded resource is its text, anything else that is not text is a line in brackets. */
function blockText(block: ContentBlock): string {
  const known = blockOf(block);
  if (known.kind === 'text') return known.text;
  if (known.kind === 'image') return imagePlaceholder(known.image);
  const { text } = resourceIn(block);
  return typeof text === 'string' ? text : placeholder(block);
}

/** The text of a block for a person: an embedded resource begins with its URI. */
export function humanBlockText(block: ContentBlock): string {
  const text = blockText(block);
  return typeof resourceIn(block)['text'] === 'string' ? `${placeholder(block)}\n${text}` : text;
}

/** The contents of an embedded resource. */
function resourceIn({ type, resource }: ContentBlock): Readonly<Record<string, unknown>> {
  return type === 'resource' && isRecord(resource) ? resource : {};
}

function placeholder(block: ContentBlock): string {
  const about = block.type === 'resource' ? resourceIn(block) : block;
  const { uri, mimeType, blob } = about;
  const named = [uri, mimeType].filter(each => typeof each === 'string').map(excerptOf);
  const size = typeof blob === 'string' ? [bytesText(Buffer.byteLength(blob, 'base64'))] : [];
  return `[${[cut(block.type, 60), ...named, ...size].join(' ')}]`;
}

const excerptOf = (value: unknown) => excerpt(foreignWords(value));

/** What is known of texts and images, by type. */
const KNOWN_OF_BLOCKS: Readonly<Record<string, readonly string[]>> = {
  text: ['type', 'text'],
  image: ['type', 'data', 'mimeType'],
};

/** Which MCP allows, so that nobody is to blame. */
export const IS_ERROR_LEFT_OUT = 'isError is left out; success is assumed';

const KNOWN = ['content', 'isError', 'structuredContent', '_meta'];

type CallToolResult = z.infer<typeof callToolResultSchema>;

/** A CallToolResult, as a server sent it. Payloads are never looked into to see whether they look like results (seed 003). */
function readCallToolResult(native: unknown): Reading {
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

/** `isError` is always written; `structuredContent` and `_meta` only where they are set (seed 003). */
function writeCallToolResult(wire: Pick<Dialect, 'title' | 'carries'>, answer: Answer): Writing {
  const { outcome, beside = {} } = answer;
  const { structured, losses } = structuredOf(wire, answer);
  const { meta } = beside;
  const content = contentOf(answer);
  const isBare = content.length === 0 && structured !== undefined; // then it is read as the payload
  const mistaken = isBare && outcome.type === 'success' ? [lossOf(wire, 'no payload', true)] : [];
  const body = {
    content,
    ...(structured !== undefined && { structuredContent: structured }),
    isError: outcome.type !== 'success',
    ...(meta !== undefined && { _meta: meta }),
  };
  return { body, losses: [...lossesOf(wire, answer), ...losses, ...mistaken] };
}

function contentOf(answer: Answer): object[] {
  const text = textOf(answer);
  const { 'other content': others } = answer.beside ?? {};
  return [
    ...(text === undefined ? [] : [{ type: 'text', text }]),
    ...imagesOf(answer).map(({ data, mediaType }) => ({ type: 'image', data, mimeType: mediaType })),
    ...(Array.isArray(others) ? others : []),
  ];
}

/** A payload is wrapped as a text: a string as it is, other JSON without blanks (seed 003). */
function textOf(answer: Answer): string | undefined {
  const { outcome, payload } = answer;
  if (outcome.type === 'success') return words(payload);
  const documented = isByConvention(outcome) ? compactJson(payloadOfOutcome(outcome)) : null;
  return documented ?? sentenceOf(answer);
}

function isByConvention({ type }: Outcome): boolean {
  return type === 'canceled' || type === 'timeout' || type === 'denied';
}

interface Structured {
  readonly structured: unknown;
  readonly losses: readonly Loss[];
}

/** An outcome that needs structured content to be told takes its place. */
function structuredOf(wire: Pick<Dialect, 'title'>, { outcome, beside = {} }: Answer): Structured {
  const { 'structured content': own } = beside;
  const told = toldBy(outcome);
  if (told === null || says(own, outcome)) return { structured: own, losses: [] };
  return { structured: told, losses: own === undefined ? [] : [lossOf(wire, 'structured content', own)] };
}

function toldBy(outcome: Outcome): object | null {
  const isPlain = outcome.type === 'error' && outcome.code === undefined && outcome.errorType === undefined;
  return isPlain ? null : payloadOfOutcome(outcome);
}

/** Whether structured content tells the outcome already, though perhaps in other words. */
function says(own: unknown, outcome: Outcome): boolean {
  const documented = outcomeOfPayload(own);
  if (documented?.type !== 'error' || outcome.type !== 'error') return false;
  const { code, errorType } = outcome;
  return isDeepStrictEqual([documented.code, documented.errorType], [code, errorType]);
}

const title = 'a CallToolResult of MCP';

const carries: Dialect['carries'] = {
  success: 'exact',
  error: 'exact',
  canceled: 'convention',
  timeout: 'convention',
  denied: 'convention',
  unknown: 'lost',
  'error code': 'convention',
  'error type': 'convention',
  'error origin': 'lost',
  text: 'exact',
  JSON: 'lost',
  'no payload': 'convention',
  images: 'exact',
  'other content': 'exact',
  'order of content': 'lost',
  'structured content': 'exact',
  meta: 'exact',
  display: 'lost',
  subscription: 'lost',
  id: 'lost',
  tool: 'lost',
  arguments: 'lost',
  'other request fields': 'lost',
  thread: 'lost',
  'secondary id': 'lost',
  'other fields': 'lost',
};

/** What `tools/call` gives on an MCP wire (seed 003). */
export const mcpDialect: Dialect = {
  name: 'mcp',
  title,
  carries,
  read: readCallToolResult,
  write: answer => writeCallToolResult({ title, carries }, answer),
};
