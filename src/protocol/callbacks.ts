import * as z from 'zod/mini';
import type { JsonReading } from '../util/json.js';
import { truncateBeforeToken } from '../util/text.js';
import { isSafeToVisit } from '../util/url.js';
import { isRecord, valueAt } from '../util/values.js';
import { choiceResponseSchema, invocationSchema, NOTICES } from './invocation.js';
import type { Warning } from './requirements.js';
import { jsonWarnings } from './strictness.js';
import { ANNOTATIONS, toolSchema, toolsetSchema } from './toolset.js';
import { validateTolerantly } from './validate.js';
import { WEB_URL, webUrlSchema } from './web-url.js';

const contentItemSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: z.string(), mediaType: z.string() }),
]);

/** The type is open, and the content is validated only when it is shown: an invalid hint must not lose a result. */
const displaySegmentSchema = z.object({ type: z.string(), content: z.optional(z.unknown()) });

export type DisplaySegment = z.infer<typeof displaySegmentSchema>;

/** Tool → runtime: the outcome of a call (seed 000). `content` is from the later version; `text` or a non-empty `content` is required. */
export const toolResultSchema = z
  .object({
    type: z.literal('tool_result'),
    group_id: z.string(),
    id: z.string(),
    call_id: z.nullish(z.string()),
    text: z.optional(z.string()),
    content: z.optional(z.array(contentItemSchema)),
    display_as: z.optional(z.array(displaySegmentSchema)),
    subscription: z.optional(z.boolean()),
  })
  .check(({ value, issues }) => {
    if (value.text === undefined && !value.content?.length)
      issues.push({
        code: 'custom',
        input: value,
        path: ['text'],
        message: 'is required (or content, in the later text of the protocol)',
      });
  })
  .check(
    z.meta({
      anyOf: [
        { required: ['text'], properties: { text: { type: 'string' } } },
        { required: ['content'], properties: { content: { type: 'array', minItems: 1 } } },
      ],
    }),
  );

export type ContentItem = z.infer<typeof contentItemSchema>;

/** Tool → runtime: the user must visit a URL first. The call stays pending (RT-PENDING). */
const oauthSchema = z.object({
  type: z.literal('oauth'),
  group_id: z.string(),
  id: z.string(),
  call_id: z.nullish(z.string()),
  auth_url: z
    .url()
    .check(
      z.refine(isSafeToVisit, 'must be an https URL without a user in it (http only on loopback)'),
      z.meta({ pattern: WEB_URL.source, description: 'https, or http on loopback; without a user in it' }),
    ),
});

/** Tool → runtime: an event of a subscription, which a result with `subscription: true` opened (TOOL-SUB). */
const subscriptionEventSchema = z.object({
  type: z.literal('subscription_event'),
  group_id: z.string(),
  /** The `id` of the call that subscribed. */
  tool_call_id: z.string(),
  text: z.string(),
  associative: z.optional(z.boolean()),
  final: z.optional(z.boolean()),
});

/** Tool → runtime: a question for the user. The call stays pending until the tool sends its result (TOOL-CHOICE). */
const userChoiceSchema = z
  .object({
    type: z.literal('user_choice'),
    group_id: z.string(),
    id: z.string(),
    call_id: z.nullish(z.string()),
    prompt: z.string(),
    choices: z.array(z.string()).check(z.minLength(1)),
    default: z.int().check(z.nonnegative(), z.describe('Index of one of the choices')),
    response_url: webUrlSchema,
  })
  .check(({ value, issues }) => {
    if (value.default >= value.choices.length)
      issues.push({
        code: 'custom',
        input: value,
        path: ['default'],
        message: 'is not the index of one of the choices',
      });
  });

/** Tool → runtime: the latest state of a view of the thread; empty content clears it (RT-VIEW). */
const viewUpdateSchema = z.object({
  type: z.literal('view_update'),
  group_id: z.string(),
  view_type: z.string(),
  content: z.record(z.string(), z.unknown()),
});

/**
 * A zod schema of everything that a tool may POST to a callback URL. As JSON Schema: `protocol-cli/callbacks.schema.json`.
 * @example
 * const { success } = callbackSchema.safeParse({ type: 'tool_result', group_id: 'thread', id: 'call', text: 'done' });
 */
export const callbackSchema = z.discriminatedUnion(
  'type',
  [toolResultSchema, oauthSchema, userChoiceSchema, subscriptionEventSchema, viewUpdateSchema],
  { error: issue => (issue.code === 'invalid_union' ? unknownType(issue.input) : undefined) },
);

/**
 * A message that a tool POSTs to a callback URL.
 * @example
 * const callback: Callback = { type: 'tool_result', group_id: 'thread', id: 'call', text: 'done' };
 */
export type Callback = z.infer<typeof callbackSchema>;

/** The kinds of callbacks. */
export type CallbackType = Callback['type'];

/** The outcome of a call. */
export type ToolResult = Extract<Callback, { type: 'tool_result' }>;

/** The user must visit a URL before the call goes on. */
export type OAuth = Extract<Callback, { type: 'oauth' }>;

/**
 * A question to the user; the call stays pending until it is answered.
 * @example
 * const choose = ({ choices, default: preset }: UserChoice) => Math.max(choices.indexOf('yes'), preset);
 */
export type UserChoice = Extract<Callback, { type: 'user_choice' }>;

/** A callback that waits for the user. */
export type QuestionMessage = OAuth | UserChoice;

interface Traits {
  /** It ends its call (the protocol, section 2). */
  readonly endsCall: boolean;
  /** The member with the id of its call; null if it belongs to a thread. */
  readonly idField: 'id' | 'tool_call_id' | null;
  /** Two equal ones are two messages, not one that was sent again. */
  readonly isSeries: boolean;
  /** The kind of the fixture step that sends it. */
  readonly step: string;
  /** Its call stays pending until the user has acted. */
  readonly isQuestion: boolean;
  /** The member with a URL that grants access to anyone who knows it (threats, row 25). */
  readonly secretUrl: string | null;
}

const PLAIN = { isQuestion: false, secretUrl: null } as const;

const QUESTION = { endsCall: false, idField: 'id', isSeries: false, isQuestion: true } as const;

export const CALLBACK_TRAITS = {
  tool_result: { ...PLAIN, endsCall: true, idField: 'id', isSeries: false, step: 'result' },
  oauth: { ...QUESTION, step: 'oauth', secretUrl: 'auth_url' },
  user_choice: { ...QUESTION, step: 'choice', secretUrl: 'response_url' },
  subscription_event: { ...PLAIN, endsCall: false, idField: 'tool_call_id', isSeries: true, step: 'event' },
  view_update: { ...PLAIN, endsCall: false, idField: null, isSeries: true, step: 'view' },
} as const satisfies {
  readonly [Type in CallbackType]: Traits & {
    isQuestion: Type extends QuestionMessage['type'] ? true : false;
  };
};

/** The names of all members with a secret URL. */
export const SECRET_URLS = Object.values(CALLBACK_TRAITS).flatMap(({ secretUrl }) => secretUrl ?? []);

/** Whether a message waits for the user; only its type is read. */
export function isQuestion(
  message: { readonly type?: unknown } | null | undefined,
): message is QuestionMessage {
  return traitsOf(message?.type)?.isQuestion ?? false;
}

/** Whether a message of this type ends its call: an unknown type, perhaps of a fault, was meant as the result. */
export function endsCall(type: string | null | undefined): boolean {
  return traitsOf(type)?.endsCall ?? true;
}

/** The ids by which a callback names its call, even if it is invalid otherwise; null without them. */
export function callNamedIn(json: JsonReading): { readonly groupId: string; readonly id: string } | null {
  const member = (name: string) => valueAt(json, 'value', name);
  const { idField } = traitsOf(member('type')) ?? {};
  const [groupId, id] = [member('group_id'), member(idField ?? '')];
  return typeof groupId === 'string' && typeof id === 'string' ? { groupId, id } : null;
}

/** Undefined for an unknown type. */
export function traitsOf(type: unknown): (typeof CALLBACK_TRAITS)[CallbackType] | undefined {
  const known = CALLBACK_TYPES.find(each => each === type);
  return known && CALLBACK_TRAITS[known];
}

export const CALLBACK_TYPES: readonly CallbackType[] = callbackSchema._zod.def.options.flatMap(
  option => option.shape.type._zod.def.values,
);

/** Maximum length of a quoted type, in characters. */
const MAX_TYPE = 200;

function unknownType(input: unknown): string {
  const type =
    typeof input === 'object' && input !== null && 'type' in input
      ? truncateBeforeToken(JSON.stringify(input.type), MAX_TYPE)
      : 'absent';
  return `is ${type}; a callback is one of ${CALLBACK_TYPES.join(', ')}`;
}

/** The result of validating a callback's body against the schema of its type (RT-VALIDATE). */
export type CallbackReading =
  | {
      readonly ok: true;
      readonly message: Callback;
      readonly native: unknown;
      readonly warnings: readonly Warning[];
      /** Paths of optional members that are null, which counts as absent; omitted if absent. */
      readonly nulls?: readonly string[];
    }
  | { readonly ok: false; readonly faults: readonly string[] };

/**
 * Validates the body of a callback. `message` has the fields of the protocol; `native` is the whole body.
 * The schema copies known keys only, so a foreign `__proto__` never becomes a prototype (threats, row 19).
 * @example
 * const reading = readCallback(readJson(Buffer.from('{"type":"tool_result","group_id":"g","id":"i","text":"done"}')));
 * if (reading.ok) console.log(reading.message.type, reading.warnings);
 */
export function readCallback(reading: JsonReading): CallbackReading {
  if (!reading.ok) return { ok: false, faults: [reading.reason] };
  const checked = validateTolerantly(callbackSchema, reading.value);
  if (!checked.ok) return checked;
  const { nulls } = checked;
  const message = withoutEmptyContent(checked.value);
  const warnings = [
    ...jsonWarnings(reading.notes, message.type === 'tool_result' ? 'result' : 'message').map(
      note => ({ id: 'TOOL-POST', message: note }) as const,
    ),
    ...remarks(message),
  ];
  return { ok: true, message, native: reading.value, warnings, ...(nulls && { nulls }) };
}

/** An empty `content` counts as absent: `text` is what the model gets. */
function withoutEmptyContent(message: Callback): Callback {
  if (message.type !== 'tool_result' || message.content?.length !== 0) return message;
  const { content: _, ...rest } = message;
  return rest;
}

function remarks(message: Callback): Warning[] {
  if (message.type !== 'tool_result') return [];
  const { text, content = [], display_as: segments = [] } = message;
  const images = [
    ...content.map((item, index) => ({ value: item, place: `content[${index}]` })),
    ...segments
      .map(({ type, content: value }, index) => ({ type, value, place: `display_as[${index}].content` }))
      .filter(({ type }) => type === 'image'),
  ];
  const notBase64 = images.filter(({ value }) => isRecord(value) && !isBase64(value['data']));
  return [
    ...(text === undefined ? ['the result has content but no text, which older runtimes require'] : []),
    ...notBase64.map(({ place }) => `${place}.data is not base64`),
  ].map(remark => ({ id: 'TOOL-POST', message: remark }));
}

/** Allows line breaks and missing padding, which decoders accept; other values break the schema. */
function isBase64(data: unknown): boolean {
  return typeof data !== 'string' || !/[^A-Za-z\d+/=\r\n]/.test(data);
}

/** Member names and types of the protocol, which redaction must keep. */
export const PROTOCOL_WORDS: ReadonlySet<string> = new Set([
  ...[invocationSchema, toolsetSchema, toolSchema].flatMap(membersOf),
  ...[choiceResponseSchema, ...Object.values(NOTICES).map(({ body }) => body)].flatMap(membersOf),
  ...callbackSchema._zod.def.options.flatMap(membersOf),
  ...ANNOTATIONS,
  ...CALLBACK_TYPES,
  ...['diff', 'path', 'patch', 'image', 'data', 'mediaType'], // of display segments and content items
]);

function membersOf({ shape }: { readonly shape: object }): string[] {
  return Object.keys(shape);
}
