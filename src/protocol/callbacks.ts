import * as z from 'zod/mini';
import type { JsonReading } from '../util/json.js';
import { cutBeforeToken } from '../util/text.js';
import { isSafeToVisit } from '../util/url.js';
import { isRecord } from '../util/values.js';
import { toolResultSchema } from './callbacks/tool-result.js';
import type { Warning } from './requirements.js';
import { validateTolerantly } from './validate.js';

/** Tool → runtime: the user must visit a URL first. The call stays pending (RT-PENDING). */
const oauthSchema = z.object({
  type: z.literal('oauth'),
  group_id: z.string(),
  id: z.string(),
  call_id: z.nullish(z.string()),
  auth_url: z
    .url()
    .check(z.refine(isSafeToVisit, 'must be an https URL without a user in it (http only on loopback)')),
});

export type OAuth = z.infer<typeof oauthSchema>;

/** Tool → runtime: news of a subscription that a result opened with `subscription: true` (TOOL-SUB). */
const subscriptionEventSchema = z.object({
  type: z.literal('subscription_event'),
  group_id: z.string(),
  /** The `id` of the call that subscribed. */
  tool_call_id: z.string(),
  text: z.string(),
  associative: z.optional(z.boolean()),
  final: z.optional(z.boolean()),
});

export type SubscriptionEvent = z.infer<typeof subscriptionEventSchema>;

/** Tool → runtime: a question for the user. The call stays pending until the tool sends its result (TOOL-CHOICE). */
const userChoiceSchema = z
  .object({
    type: z.literal('user_choice'),
    group_id: z.string(),
    id: z.string(),
    call_id: z.nullish(z.string()),
    prompt: z.string(),
    choices: z.array(z.string()).check(z.minLength(1)),
    default: z.int().check(z.nonnegative()),
    response_url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
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

export type UserChoice = z.infer<typeof userChoiceSchema>;

/** Tool → runtime: the latest state of a view of the thread; empty content clears it (RT-VIEW). */
const viewUpdateSchema = z.object({
  type: z.literal('view_update'),
  group_id: z.string(),
  view_type: z.string(),
  content: z.record(z.string(), z.unknown()),
});

export type ViewUpdate = z.infer<typeof viewUpdateSchema>;

/** Everything a tool may POST to a callback URL. A new type is one file beside this one and one line here. */
export const callbackSchema = z.discriminatedUnion(
  'type',
  [toolResultSchema, oauthSchema, userChoiceSchema, subscriptionEventSchema, viewUpdateSchema],
  { error: issue => (issue.code === 'invalid_union' ? unknownType(issue.input) : undefined) },
);

export type Callback = z.infer<typeof callbackSchema>;

export type CallbackType = Callback['type'];

/** Which callbacks end their call (the protocol, section 2). */
const ENDS_CALL = {
  tool_result: true,
  oauth: false,
  user_choice: false,
  subscription_event: false,
  view_update: false,
} as const satisfies Record<CallbackType, boolean>;

/** Whether a message of this type ends its call: an unknown type, perhaps of a fault, was meant as the result. */
export function endsCall(type: string | null | undefined): boolean {
  return type == null || !Object.hasOwn(ENDS_CALL, type) || ENDS_CALL[type as CallbackType];
}

export const CALLBACK_TYPES: readonly CallbackType[] = callbackSchema._zod.def.options.flatMap(
  option => option.shape.type._zod.def.values,
);

/** Characters of what is foreign. */
const MOST = 200;

function unknownType(input: unknown): string {
  const type =
    typeof input === 'object' && input !== null && 'type' in input
      ? cutBeforeToken(JSON.stringify(input.type), MOST)
      : 'absent';
  return `is ${type}; a callback is one of ${CALLBACK_TYPES.join(', ')}`;
}

/** A callback's body, judged against the schema of its type (RT-VALIDATE). */
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
 * `message` holds the fields the protocol knows; `native` is what came, whole.
 * The schema copies known keys only, so a foreign `__proto__` never reaches an object of ours (threats, row 19).
 */
export function readCallback(reading: JsonReading): CallbackReading {
  if (!reading.ok) return { ok: false, faults: [reading.reason] };
  const checked = validateTolerantly(callbackSchema, reading.value);
  if (!checked.ok) return checked;
  const { nulls } = checked;
  const message = withoutEmptyContent(checked.value);
  const warnings = [
    ...reading.notes.map(note => ({ id: 'TOOL-POST', message: note }) as const),
    ...remarks(message),
  ];
  return { ok: true, message, native: reading.value, warnings, ...(nulls.length > 0 && { nulls }) };
}

/** An empty `content` counts as absent: `text` is what the model gets. */
function withoutEmptyContent(message: Callback): Callback {
  if (message.type !== 'tool_result' || message.content?.length !== 0) return message;
  const { content: _, ...rest } = message;
  return rest;
}

function remarks(message: Callback): Warning[] {
  if (message.type === 'tool_result' && message.text === undefined)
    return [{ id: 'TOOL-POST', message: 'the result has content but no text, which older runtimes require' }];
  if (message.type === 'oauth' && new URL(message.auth_url).protocol === 'http:')
    return [{ id: 'TOOL-OAUTH', message: 'auth_url is http; that is fine on loopback only' }];
  return [];
}

/** The members of LM-Kit's `ToolCallResultType`, each at its number (seed 002). The enumeration is open. */
const RESULT_TYPES = ['Success', 'Error', 'Canceled', 'Timeout', 'Denied'] as const;

export type ResultType = (typeof RESULT_TYPES)[number];

/** What LM-Kit knows of a call that came to its end; `ResultJson` is a JSON text (seed 002). */
export const toolCallResultSchema = z.object({
  Type: z.union([z.string(), z.number()], { error: 'must be a name or a number' }),
  ResultJson: z.string(),
  ToolCallId: z.nullish(z.string()),
  ToolName: z.nullish(z.string()),
});

/** The member that is meant, by its name in any case, or by its number; null for one of another version. */
export function resultTypeOf(type: string | number): ResultType | null {
  if (typeof type === 'number') return RESULT_TYPES[type] ?? null;
  return RESULT_TYPES.find(each => each.toLowerCase() === type.toLowerCase()) ?? null;
}

/** A call that an agent session waits for, and what an answer echoes whole (seed 001). The id may be null, or left out. */
export const toolRequestSchema = z.object({
  tool_name: z.string(),
  args: z.optional(z.record(z.string(), z.unknown())),
  id: z.nullish(z.string()),
});

export type ToolRequest = z.infer<typeof toolRequestSchema>;

/** A call that went well. `result` is any JSON, and left out is not null (seed 001). */
export const sessionResultSchema = z.object({
  kind: z.literal('tool_result'),
  tool_req: toolRequestSchema,
  result: z.optional(z.unknown()),
});

/** A call that failed: `error` is shown to the model, `origin` names what produced it. */
export const errorEventSchema = z.object({
  kind: z.literal('error_event'),
  error: z.string(),
  origin: z.string(),
  tool_req: toolRequestSchema,
});

const settledCallSchema = z.discriminatedUnion('kind', [sessionResultSchema, errorEventSchema]);

/** What `POST /api/v2/sessions/{id}/tool_results` takes. */
export type SettledCall = z.infer<typeof settledCallSchema>;

/** Of an error that comes from a custom tool (seed 001's example). */
export const CUSTOM_TOOLS = 'custom_tools';

/** Every status an agent session can have (platforms). */
const SESSION_STATUSES = [
  'queued',
  'pending',
  'running',
  'paused',
  'idle',
  'awaiting_tool_results',
  'completed',
  'timed_out',
  'interrupted',
  'failed',
] as const;

export type SessionStatus = (typeof SESSION_STATUSES)[number];

const TERMINAL: ReadonlySet<string> = new Set(['completed', 'timed_out', 'interrupted', 'failed']);

/** Nothing more happens in it. */
export const isTerminal = (status: string): boolean => TERMINAL.has(status);

/** What clients take for the end: an idle session waits for a message (platforms). */
export const isSettledStatus = (status: string): boolean => isTerminal(status) || status === 'idle';

/** The parameters of `notifications/progress`. */
export const progressSchema = z.object({
  progress: z.number(),
  total: z.optional(z.number()),
  message: z.optional(z.string()),
});

export type Progress = z.infer<typeof progressSchema>;

/** The parameters of `elicitation/create` in form mode. */
export const elicitationSchema = z.object({
  mode: z.optional(z.literal('form')),
  message: z.string(),
  requestedSchema: z.looseObject({
    type: z.literal('object'),
    properties: z.record(z.string(), z.record(z.string(), z.unknown())),
    required: z.optional(z.array(z.string())),
  }),
});

export type Elicitation = z.infer<typeof elicitationSchema>;

/** One of the values that a field of a form allows. */
interface FormOption {
  readonly value: unknown;
  readonly label: string;
}

/** The values that a field allows; null when it is open. */
export function optionsOf(field: Readonly<Record<string, unknown>>): readonly FormOption[] | null {
  if (field['type'] === 'boolean')
    return [true, false].map(value => ({ value, label: value ? 'yes' : 'no' }));
  const titled = field['oneOf'] ?? field['anyOf'];
  if (Array.isArray(titled) && titled.length > 0 && titled.every(each => isRecord(each) && 'const' in each))
    return titled.map(({ const: value, title }) => ({ value, label: words(title ?? value) }));
  const { enum: values, enumNames: names } = field;
  if (!Array.isArray(values) || values.length === 0) return null;
  const labels: readonly unknown[] = Array.isArray(names) ? names : [];
  return values.map((value, index) => ({ value, label: words(labels[index] ?? value) }));
}

function words(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A form with one field that allows certain values: a choice. */
interface FormChoice {
  readonly field: string;
  readonly options: readonly FormOption[];
  /** Index of the default option. */
  readonly preset: number;
}

export function choiceOf({ requestedSchema: { properties } }: Elicitation): FormChoice | null {
  const [[field, property] = ['', {}], ...others] = Object.entries(properties);
  const options = optionsOf(property);
  if (others.length > 0 || options === null) return null;
  const preset = options.findIndex(({ value }) => value === property['default']);
  return { field, options, preset: Math.max(0, preset) };
}

/** The actions that are offered after the options of a choice. */
const OTHER_ACTIONS = ['decline', 'cancel'] as const;

const MOST_NAMED = 20;

/** A form as a question with choices: the options of its only field, or whether it is filled in. */
export function questionOf(
  form: Elicitation,
  { group, id }: { readonly group: string; readonly id: string },
) {
  const choice = choiceOf(form);
  const fields = Object.keys(form.requestedSchema.properties);
  const rest = fields.length > MOST_NAMED ? ', …' : '';
  const asked = choice || fields.length === 0 ? '' : ` (${fields.slice(0, MOST_NAMED).join(', ')}${rest})`;
  return {
    type: 'user_choice',
    group_id: group,
    id,
    prompt: form.message + asked,
    choices: [...(choice ? choice.options.map(({ label }) => label) : ['accept']), ...OTHER_ACTIONS],
    default: choice?.preset ?? 0,
    response_url: '',
  } satisfies UserChoice;
}

/** The values of a form when nothing is filled in. */
export function defaultsOf({ requestedSchema: { properties } }: Elicitation): Record<string, unknown> {
  const entries = Object.entries(properties).map(([name, property]) => [name, property['default']] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

/** The answer that picking a choice of {@link questionOf} gives. */
export function answerOf(form: Elicitation, selected: number) {
  const choice = choiceOf(form);
  const action = OTHER_ACTIONS[selected - (choice?.options.length ?? 1)];
  if (action) return { action, selected };
  const content = choice ? { [choice.field]: choice.options[selected]?.value } : defaultsOf(form);
  return { action: 'accept', content, selected } as const;
}
