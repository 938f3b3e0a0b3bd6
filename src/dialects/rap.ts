import { type ContentItem, type ToolResult, toolResultSchema } from '../protocol/callbacks/tool-result.js';
import { llmText, outcomeOfText, textOfOutcome } from '../protocol/outcome.js';
import { bytesText, isRecord } from '../util/json-diagnosis.js';
import type { Answer, Dialect, Image, Loss, Reading, Writing } from './dialect.js';
import { checked, lossesOf, otherFields, sentenceOf } from './losses.js';

/** One piece of what a model gets, where a wire hands it over in pieces. */
export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: Image }
  /** Sound, a resource, what a later version has: as it is. */
  | { readonly kind: 'other'; readonly block: unknown };

/** Pieces as the one model has them: the texts joined by a line feed, the rest beside. */
interface Gathered {
  /** Undefined where there is no text among them. */
  readonly text: string | undefined;
  readonly beside: NonNullable<Answer['beside']>;
}

export function gather(blocks: readonly Block[]): Gathered {
  const texts = blocks.flatMap(each => (each.kind === 'text' ? [each.text] : []));
  const images = blocks.flatMap(each => (each.kind === 'image' ? [each.image] : []));
  const others = blocks.flatMap(each => (each.kind === 'other' ? [each.block] : []));
  return {
    text: texts.length > 0 ? texts.join('\n') : undefined,
    beside: {
      ...(images.length > 0 && { images }),
      ...(others.length > 0 && { 'other content': others }),
      ...(!isPlain(blocks) && { 'order of content': orderOf(blocks) }),
    },
  };
}

/**
 * What pieces of content have beside what is known of them (annotations, alt …), by their place.
 * @param content as it came: a schema's copy has less
 * @param known by type; of a type that is not there nothing is asked
 */
export function extrasOf(
  content: unknown,
  known: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, unknown>> {
  const items: readonly unknown[] = Array.isArray(content) ? content : [];
  return Object.fromEntries(
    items.flatMap((item, index) => {
      const type = isRecord(item) ? item['type'] : undefined;
      const isKnown = typeof type === 'string' && Object.hasOwn(known, type);
      const others = isKnown ? otherFields(item, known[type] ?? []) : undefined;
      return others ? [[`content[${index}]`, others]] : [];
    }),
  );
}

/** The images of an answer. */
export function imagesOf({ beside = {} }: Answer): readonly Image[] {
  const { images } = beside;
  return Array.isArray(images) ? images.filter(isImage) : [];
}

/** What a person sees of an image in a text. */
export function imagePlaceholder({ data, mediaType }: Image): string {
  return `[image: ${mediaType}, ${bytesText(Buffer.byteLength(data, 'base64'))}]`;
}

const RANK = { text: 0, image: 1, other: 2 };
const MOST_NAMED = 20;

/** Whether they come out the same when they are written again: one text, then images, then others. */
function isPlain(blocks: readonly Block[]): boolean {
  const ranks = blocks.map(({ kind }) => RANK[kind]);
  return ranks.every((rank, index) => index === 0 || rank >= Math.max(1, ranks[index - 1] ?? 0));
}

function orderOf(blocks: readonly Block[]): string {
  const kinds = blocks.slice(0, MOST_NAMED).map(({ kind }) => kind);
  return kinds.join(', ') + (blocks.length > MOST_NAMED ? ' …' : '');
}

function isImage(value: unknown): value is Image {
  return typeof value === 'object' && value !== null && 'data' in value && 'mediaType' in value;
}

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
