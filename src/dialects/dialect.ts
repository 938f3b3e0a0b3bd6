import type * as z from 'zod/mini';
import type { JudgedOutcome, Outcome } from '../protocol/outcome.js';
import { type Validation, validate } from '../protocol/validate.js';
import { LIMITS } from '../util/limits.js';
import { excerpt, formatDuration } from '../util/text.js';
import { compactJson, isRecord, valueAt } from '../util/values.js';

/** The format of a tool's answer (platforms "One model"): RAP, agent sessions, LM-Kit or MCP. */
export type DialectName = 'rap' | 'session' | 'lmkit' | 'mcp';

export const DIALECT_NAMES: readonly DialectName[] = ['rap', 'session', 'lmkit', 'mcp'];

/** The call that is answered, with the fields that the format has. */
export interface AnsweredCall {
  /** Null if the format has no id, or the id is null. */
  readonly id: string | null;
  readonly tool?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  /** RAP's `group_id`. */
  readonly thread?: string;
  /** RAP's `call_id`. */
  readonly secondaryId?: string;
  /** The pending call of an agent session: the answer repeats it whole (seed 001). */
  readonly request?: Readonly<Record<string, unknown>>;
}

/** A tool's answer, independent of the format it came in. */
export interface Answer {
  readonly call: AnsweredCall;
  readonly outcome: JudgedOutcome;
  /**
   * What the model gets: a text or other JSON; absent if nothing was given, which is not null. Only a success and an unknown outcome
   * are written with it; other outcomes have a text of their own.
   */
  readonly payload?: unknown;
  /** Everything else: display segments, structured content, a subscription, images. */
  readonly beside?: Readonly<Partial<Record<Feature, unknown>>>;
}

interface Image {
  /** Base64. */
  readonly data: string;
  readonly mediaType: string;
}

/** A parsed message. The native message is kept, so that it is written unchanged in its own format. */
export type Reading = ValidReading | { readonly ok: false; readonly faults: readonly string[] };

/** A message that could be parsed. */
export interface ValidReading {
  readonly ok: true;
  readonly dialect: DialectName;
  readonly native: unknown;
  readonly answer: Answer;
  /** The payload as one text: JSON as it is written, an image as a placeholder. */
  readonly text: string;
  /** Warnings about an unusual but readable message. */
  readonly notes: readonly string[];
}

/** A loss of information in a written message. */
export interface WriteWarning {
  readonly feature: Feature;
  readonly message: string;
}

/** A written message as JSON, and what it could not carry. */
export interface Writing {
  readonly body: unknown;
  readonly warnings: readonly WriteWarning[];
}

/** Converts messages of a format to the common model and back. Pure; never throws. */
export interface Dialect {
  readonly name: DialectName;
  /** The name of its message for users, with an article. */
  readonly title: string;
  /** @param native the message as JSON */
  read(native: unknown): Reading;
  write(answer: Answer): Writing;
}

const MAX_FAULTS = 8;

const MAX_KEYS = 5;

const MAX_KINDS = 20;

/** Validates a foreign message and limits its depth, since it may be written again (threats, row 18). */
export function validateNative<Schema extends z.ZodMiniType>(
  schema: Schema,
  native: unknown,
): Validation<z.infer<Schema>> {
  if (isTooDeep(native))
    return { ok: false, faults: [`$: is nested deeper than ${LIMITS.jsonDepth.value} levels`] };
  const validation = validate(schema, native);
  if (validation.ok || validation.faults.length <= MAX_FAULTS) return validation;
  const rest = validation.faults.length - MAX_FAULTS;
  return { ok: false, faults: [...validation.faults.slice(0, MAX_FAULTS), `and ${rest} more`] };
}

function isTooDeep(value: unknown): boolean {
  const open: [value: unknown, depth: number][] = [[value, 0]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [each, depth] = next;
    if (typeof each !== 'object' || each === null) continue;
    if (depth >= LIMITS.jsonDepth.value) return true;
    for (const inner of Object.values(each)) open.push([inner, depth + 1]);
  }
  return false;
}

/**
 * The unknown fields of a message and of its content items (annotations, alt …); empty without any.
 * @param native as received: the schema's copy has only known fields
 * @param items the known fields of items by type; items of other types are skipped
 * @param more other parts that no feature has
 */
export function otherFields(
  native: unknown,
  known: readonly string[],
  items: Readonly<Record<string, readonly string[]>> = {},
  more: object = {},
): NonNullable<Answer['beside']> {
  const unknownIn = (fields: unknown, names: readonly string[]) =>
    Object.entries(isRecord(fields) ? fields : {}).filter(([name]) => !names.includes(name));
  const content = valueAt(native, 'content');
  const inItems = (Array.isArray(content) ? content : []).flatMap((item: unknown, index) => {
    const type = valueAt(item, 'type');
    const names = typeof type === 'string' && Object.hasOwn(items, type) ? items[type] : undefined;
    const others = names ? unknownIn(item, names) : [];
    return others.length > 0 ? [[`content[${index}]`, Object.fromEntries(others)]] : [];
  });
  const all = { ...Object.fromEntries([...unknownIn(native, known), ...inItems]), ...more };
  return Object.keys(all).length > 0 ? { 'other fields': all } : {};
}

/** One item of content. */
export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: Image }
  /** Audio, a resource, or a type of a later version, unchanged. */
  | { readonly kind: 'other'; readonly block: unknown };

/** Converts blocks to the common model: the texts joined by line feeds, the rest in `beside`. */
export function fromBlocks(blocks: readonly Block[]): {
  /** Undefined without a text. */
  readonly text: string | undefined;
  readonly beside: NonNullable<Answer['beside']>;
} {
  const texts = blocks.flatMap(each => (each.kind === 'text' ? [each.text] : []));
  const images = blocks.flatMap(each => (each.kind === 'image' ? [each.image] : []));
  const others = blocks.flatMap(each => (each.kind === 'other' ? [each.block] : []));
  const ranks = blocks.map(({ kind }) => ['text', 'image', 'other'].indexOf(kind));
  // One text, then images, then others: only this order is kept when the content is written again.
  const isOrdered = ranks.every((rank, index) => index === 0 || rank >= Math.max(1, ranks[index - 1] ?? 0));
  const kinds = blocks.slice(0, MAX_KINDS).map(({ kind }) => kind);
  const order = kinds.join(', ') + (blocks.length > MAX_KINDS ? ' …' : '');
  return {
    text: texts.length > 0 ? texts.join('\n') : undefined,
    beside: {
      ...(images.length > 0 && { images }),
      ...(others.length > 0 && { 'other content': others }),
      ...(!isOrdered && { 'order of content': order }),
    },
  };
}

/** An embedded resource, or the block itself: pmcp before 2.19 writes the members of the resource into the block. */
export function resourceIn(block: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(block) || block['type'] !== 'resource') return {};
  return isRecord(block['resource']) ? block['resource'] : block;
}

function resourceTexts({ beside = {} }: Pick<Answer, 'beside'>): readonly string[] {
  const blocks: readonly unknown[] = Array.isArray(beside['other content']) ? beside['other content'] : [];
  return blocks.map(block => resourceIn(block)['text']).filter(text => typeof text === 'string');
}

/** For formats without resources: their texts follow the text of the answer. */
export function withResourceTexts(answer: Answer): Answer {
  const texts = resourceTexts(answer);
  if (texts.length === 0) return answer;
  const { outcome, payload } = answer;
  const join = (text: string | undefined) => [...(text ? [text] : []), ...texts].join('\n');
  if (outcome.type === 'error') return { ...answer, outcome: { ...outcome, message: join(outcome.message) } };
  return outcome.type === 'success' ? { ...answer, payload: join(payloadText(payload)) } : answer;
}

/** The valid images of an answer. */
export function imagesOf({ beside = {} }: Answer): readonly Image[] {
  const { images } = beside;
  return Array.isArray(images)
    ? images.filter(image => isRecord(image) && 'data' in image && 'mediaType' in image)
    : [];
}

/** A payload as a text: a string unchanged, other JSON compact; undefined if absent. */
export function payloadText(payload: unknown): string | undefined {
  return typeof payload === 'string' ? payload : (compactJson(payload) ?? undefined);
}

/** An outcome as an error message for the model, for formats that have no such type. */
export function outcomeSentence({ outcome, payload }: Pick<Answer, 'outcome' | 'payload'>): string {
  switch (outcome.type) {
    case 'success':
      return payloadText(payload) ?? '';
    case 'error':
      return outcome.message;
    case 'canceled': {
      const by = outcome.by === undefined ? '' : ` by the ${outcome.by}`;
      return withReason(`The call was canceled${by}`, outcome.reason);
    }
    case 'timeout': {
      const { durationMs = Number.NaN } = outcome;
      const limit = Number.isFinite(durationMs) ? ` (${formatDuration(durationMs)})` : '';
      return `The tool did not answer within the time allowed${limit}.`;
    }
    case 'denied': {
      const tool = outcome.tool === undefined ? '' : ` of ${outcome.tool}`;
      return withReason(`The call${tool} was denied`, outcome.reason);
    }
    case 'unknown': {
      const raw = excerpt(payloadText(outcome.raw) ?? 'nothing');
      return withReason(`The call ended with the unknown outcome ${raw}`, payloadText(payload));
    }
  }
}

function withReason(sentence: string, reason = ''): string {
  return reason === '' ? `${sentence}.` : `${sentence}: ${reason}`;
}

/** Warns about every feature of the answer that the format does not support. */
export function unsupported(
  title: string,
  supported: ReadonlySet<Feature>,
  { call, outcome, payload, beside }: Answer,
): WriteWarning[] {
  const { tool_name: _tool, args: _args, id: _id, ...otherRequestFields } = call.request ?? {};
  const isError = outcome.type === 'error';
  const hasPayload = outcome.type === 'success' || outcome.type === 'unknown';
  const values: Partial<Record<Feature, unknown>> = {
    [outcome.type]: outcome.type === 'unknown' ? [outcome.raw] : true,
    'error code': isError ? outcome.code : undefined,
    'error type': isError ? outcome.errorType : undefined,
    'error data': isError ? outcome.data : undefined,
    'error origin': isError ? outcome.origin : undefined,
    JSON: hasPayload && payload !== undefined && typeof payload !== 'string' ? true : undefined,
    'no payload': hasPayload && payload === undefined ? true : undefined,
    ...beside,
    id: call.id ?? undefined,
    tool: call.tool,
    arguments: call.args,
    'other request fields': Object.keys(otherRequestFields).length > 0 ? true : undefined,
    thread: call.thread,
    'secondary id': call.secondaryId,
  };
  return FEATURES.filter(feature => values[feature] !== undefined && !supported.has(feature)).map(feature =>
    warnOf(title, feature, values[feature]),
  );
}

export function warnOf(title: string, feature: Feature, value: unknown): WriteWarning {
  return { feature, message: `${title} cannot carry ${WORDS[feature](value)}` };
}

/** What is missing in a written message, to continue "… cannot carry". */
const WORDS = {
  success: () => 'the success',
  error: () => 'the error',
  canceled: () => 'that the call was canceled: it is written as an error',
  timeout: () => 'that the call timed out: it is written as an error',
  denied: () => 'that the call was denied: it is written as an error',
  unknown: raw => `the outcome ${quoted(Array.isArray(raw) ? raw[0] : raw)}: it is written as an error`,
  'error code': code => `the error's code ${quoted(code)}`,
  'error type': type => `the error's type ${quoted(type)}`,
  'error data': () => "the error's data",
  'error origin': origin => `the error's origin ${quoted(origin)}`,
  JSON: () => 'a payload that is JSON: it is written as a text',
  'no payload': () => 'the missing payload',
  images: images => counted(images, 'image'),
  'other content': otherContent,
  'order of content': () => 'the order of its content: the texts are joined and come first',
  'structured content': () => 'structured content',
  meta: () => 'metadata (_meta)',
  display: segments => `what people see (display_as, ${counted(segments, 'segment')})`,
  subscription: () => 'that events will follow (subscription)',
  id: id => `the id ${quoted(id)}`,
  tool: tool => `the tool's name ${quoted(tool)}`,
  arguments: () => 'the arguments',
  'other request fields': () => 'other fields of the call',
  thread: thread => `the thread ${quoted(thread)}`,
  'secondary id': id => `the call_id ${quoted(id)}`,
  'other fields': fields => `unknown fields: ${keysOf(fields)}`,
} satisfies Record<Feature, (value: unknown) => string>;

/** The features of an answer that a format may not support. */
export type Feature =
  | Outcome['type']
  | 'error code'
  | 'error type'
  | 'error data'
  | 'error origin'
  | 'JSON'
  | 'no payload'
  | 'images'
  | 'other content'
  | 'order of content'
  | 'structured content'
  | 'meta'
  | 'display'
  | 'subscription'
  | 'id'
  | 'tool'
  | 'arguments'
  | 'other request fields'
  | 'thread'
  | 'secondary id'
  | 'other fields';

const FEATURES = Object.keys(WORDS) as Feature[];

function quoted(value: unknown): string {
  return excerpt(payloadText(value) ?? 'not valid JSON');
}

function counted(value: unknown, noun: string): string {
  const number = Array.isArray(value) ? value.length : 1;
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Texts of resources are written; see {@link withResourceTexts}. */
function otherContent(blocks: unknown): string {
  const all: readonly unknown[] = Array.isArray(blocks) ? blocks : [blocks];
  const texts = all.filter(block => typeof resourceIn(block)['text'] === 'string');
  const others = all.length - texts.length;
  const parts = [
    ...(texts.length > 0 ? [`the URI of ${counted(texts, 'embedded resource')}, only the text`] : []),
    ...(others > 0 ? [`${others} content block${others === 1 ? '' : 's'} other than text and image`] : []),
  ];
  return parts.join(', and ');
}

function keysOf(value: unknown): string {
  const names = Object.keys(isRecord(value) ? value : {});
  const rest = names.length - MAX_KEYS;
  const shown = names.slice(0, MAX_KEYS).map(excerpt).join(', ');
  return rest > 0 ? `${shown} and ${rest} more` : shown;
}
