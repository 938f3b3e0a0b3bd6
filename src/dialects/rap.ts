import { outcomeOfText, textOfOutcome } from '../outcome/conventions.js';
import type { ContentItem, ToolResult } from '../protocol/callbacks/index.js';
import { toolResultSchema } from '../protocol/callbacks/tool-result.js';
import { llmText } from '../protocol/llm-text.js';
import { isRecord } from '../text/is-record.js';
import { checked, otherFields } from './checked.js';
import { type Block, extrasOf, gather, imagesOf } from './content.js';
import type { Answer, Dialect, Loss, Reading, Writing } from './dialect.js';
import { lossesOf } from './losses.js';
import { sentenceOf } from './sentence.js';

const title = 'a tool_result of RAP';

const carries: Dialect['carries'] = {
  success: 'convention',
  error: 'convention',
  canceled: 'convention',
  timeout: 'convention',
  denied: 'convention',
  unknown: 'lost',
  'error code': 'lost',
  'error type': 'lost',
  'error origin': 'lost',
  text: 'exact',
  JSON: 'lost',
  'no payload': 'lost',
  images: 'exact',
  'other content': 'lost',
  'order of content': 'lost',
  'structured content': 'lost',
  meta: 'lost',
  display: 'exact',
  subscription: 'exact',
  id: 'exact',
  tool: 'lost',
  arguments: 'lost',
  'other request fields': 'lost',
  thread: 'exact',
  'secondary id': 'exact',
  'other fields': 'lost',
};

/** RAP has no type for an outcome: it is in the text, by convention (seed 000, TOOL-ERRPREFIX). */
export const rapDialect: Dialect = { name: 'rap', title, carries, read, write };

const KNOWN = ['type', 'group_id', 'id', 'call_id', 'text', 'content', 'display_as', 'subscription'];

const KNOWN_OF_ITEMS = { text: ['type', 'text'], image: ['type', 'data', 'mediaType'] };

function read(native: unknown): Reading {
  const validation = checked(toolResultSchema, native);
  if (!validation.ok) return validation;
  const result = validation.value;
  const { group_id: thread, id, call_id, text, content } = result;
  const gathered = gather(
    content === undefined ? [{ kind: 'text', text: text ?? '' }] : content.map(blockOf),
  );
  const payload = gathered.text ?? '';
  const answer: Answer = {
    call: { id, thread, ...(typeof call_id === 'string' && { secondaryId: call_id }) },
    outcome: outcomeOfText(payload),
    payload,
    beside: { ...gathered.beside, ...besideText(result, native, payload) },
  };
  return { ok: true, dialect: 'rap', native, answer, text: llmText(result), notes: notesOf(result, payload) };
}

function blockOf(item: ContentItem): Block {
  if (item.type === 'text') return { kind: 'text', text: item.text };
  return { kind: 'image', image: { data: item.data, mediaType: item.mediaType } };
}

function besideText(
  { subscription, text, content }: ToolResult,
  native: unknown,
  payload: string,
): Answer['beside'] {
  const { display_as: display, content: items } = isRecord(native) ? native : {}; // as it came: a segment may have more than is known
  const older = isOlderText({ text, content }, payload) ? { text } : {};
  const others = { ...otherFields(native, KNOWN), ...extrasOf(items, KNOWN_OF_ITEMS), ...older };
  return {
    ...(display !== undefined && { display }),
    ...(subscription === true && { subscription }),
    ...(Object.keys(others).length > 0 && { 'other fields': others }),
  };
}

/** Beside `content`, `text` is for older runtimes, and may say something else. */
function isOlderText({ text, content }: Pick<ToolResult, 'text' | 'content'>, payload: string): boolean {
  return content !== undefined && text !== undefined && text !== payload;
}

function notesOf(result: ToolResult, payload: string): string[] {
  return isOlderText(result, payload) ? ['text is not what content says; content counts'] : [];
}

function write(answer: Answer): Writing {
  const { call, beside = {} } = answer;
  const text = textOf(answer);
  const images = imagesOf(answer);
  const { display, subscription } = beside;
  const body = {
    type: 'tool_result',
    group_id: call.thread ?? '',
    id: call.id ?? '',
    ...(call.secondaryId !== undefined && { call_id: call.secondaryId }),
    text,
    ...(images.length > 0 && { content: contentOf(text, images) }),
    ...(display !== undefined && { display_as: display }),
    ...(subscription !== undefined && { subscription }),
  };
  return { body, losses: [...lossesOf({ title, carries }, answer), ...misread(answer, text)] };
}

/** An outcome's own words; of one that has none, its payload. */
function textOf(answer: Answer): string {
  if (answer.outcome.type === 'success') return sentenceOf(answer);
  return textOfOutcome(answer.outcome) ?? `Error: ${sentenceOf(answer)}`;
}

function contentOf(text: string, images: ReturnType<typeof imagesOf>): ContentItem[] {
  const items = images.map(({ data, mediaType }) => ({ type: 'image', data, mediaType }) as const);
  return text === '' ? items : [{ type: 'text', text }, ...items];
}

/** A convention can be met by chance, or missed: then the text is read as something else. */
function misread({ outcome: { type } }: Answer, text: string): Loss[] {
  const { type: read } = outcomeOfText(text);
  if (carries[type] === 'lost' || read === type) return [];
  return [
    { feature: type, message: `${title} cannot carry this ${type}: by its text it is read as ${read}` },
  ];
}
