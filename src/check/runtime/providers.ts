import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { ABILITIES, type Observation } from '../../protocol/driver.js';
import { type Validation, validate } from '../../protocol/validate.js';
import { wholeCharacters } from '../../util/text.js';
import { valueAt } from '../../util/values.js';

/** What the model gets. */
export type ModelInput = Extract<Observation, { saw: 'model' | 'failure' }>;

export interface ModelRequest {
  readonly model: string;
  /** Names of the tools that the model may call. */
  readonly tools: readonly string[];
  readonly allowsParallelCalls: boolean;
  readonly isStreamed: boolean;
  readonly wantsUsage: boolean;
  /** The whole conversation, in order, without the messages of the model. */
  readonly inputs: readonly ModelInput[];
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The API of a provider. Without calls, the model answers with a text and ends its turn. */
interface Provider {
  /** Paths without the prefix `/v1`, which base URLs may or may not contain: of messages, and of their number of tokens. */
  readonly paths: readonly [messages: string, count?: string];
  /** What the driver protocol has and the API cannot express. */
  readonly cannot: readonly string[];
  env(url: string): Readonly<Record<string, string>>;
  read(body: unknown): Validation<ModelRequest>;
  message(request: ModelRequest, calls: readonly ToolCall[]): object;
  /** The message as server-sent events. */
  events(request: ModelRequest, calls: readonly ToolCall[]): Iterable<string>;
  error(status: number, message: string): object;
}

/** The part of the driver protocol that concerns the user and the session. */
const USER_ABILITIES = ABILITIES.filter(ability => !['invoke', 'end', 'model', 'failure'].includes(ability));

/** The text of the model when it calls no tool. */
const FINAL_TEXT = 'Done.';

/** Small and constant, so that no agent shortens its conversation because of it. */
export const TOKENS = { input: 100, output: 20 } as const;

const REQUIRED: Readonly<Record<string, 'text' | 'tool_use_id'>> = {
  text: 'text',
  tool_result: 'tool_use_id',
};

const partSchema = z.looseObject({ type: z.string() }).check(
  z.refine(part => !(part.type in REQUIRED) || typeof part[REQUIRED[part.type] ?? ''] === 'string', {
    error: 'must have the string that its type requires: "text", or "tool_use_id" for a tool result',
  }),
);

type Part = z.infer<typeof partSchema>;

/** The parts of a message; a string is one text; null has no parts. */
const contentSchema = z.pipe(
  z.transform((content: unknown) =>
    typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []),
  ),
  z.array(partSchema),
);

/** A part as text: `[image image/png]` for anything but text. */
function partText(part: Part): string {
  if (part.type === 'text') return String(part['text']);
  const [, dataType] = /^data:([\w.+-]+\/[\w.+-]+)/.exec(String(valueAt(part, 'image_url', 'url'))) ?? [];
  const mediaType = valueAt(part, 'source', 'media_type') ?? dataType;
  return `[${part.type.replace(/_url$/, '')}${typeof mediaType === 'string' ? ` ${mediaType}` : ''}]`;
}

function textOf(parts: readonly Part[]): string {
  return parts.map(partText).join('\n');
}

function seen(part: Part): ModelInput {
  return { saw: 'model', text: partText(part) };
}

const PIECES = 3;

/** The arguments as JSON in a few pieces, as a model streams them. */
function* argumentPieces(args: unknown): Generator<string> {
  const json = JSON.stringify(args);
  const length = Math.ceil(json.length / PIECES);
  for (let from = 0; from < json.length; ) {
    const to = wholeCharacters(json, from + length);
    yield json.slice(from, to);
    from = to;
  }
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}`;
}

const anthropicSchema = z.looseObject({
  model: z.string(),
  max_tokens: z.optional(z.int().check(z.minimum(0))),
  messages: z
    .array(z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: contentSchema }))
    .check(z.minLength(1)),
  system: z.optional(contentSchema),
  tools: z.nullish(z.array(z.looseObject({ name: z.string() }))),
  tool_choice: z.nullish(
    z.looseObject({ type: z.string(), disable_parallel_tool_use: z.optional(z.boolean()) }),
  ),
  stream: z.nullish(z.boolean()),
});

/** The Messages API of Anthropic. */
const anthropic: Provider = {
  paths: ['/messages', '/messages/count_tokens'],
  cannot: USER_ABILITIES,
  env: url => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-ant-dummy' }),
  read(body) {
    const checked = validate(anthropicSchema, body);
    if (!checked.ok) return checked;
    const { model, messages, system = [], tools, tool_choice: choice, stream } = checked.value;
    const parts = messages.flatMap(({ role, content }) => (role === 'assistant' ? [] : content));
    return {
      ok: true,
      value: {
        model,
        tools: choice?.type === 'none' ? [] : (tools ?? []).map(({ name }) => name),
        allowsParallelCalls: choice?.disable_parallel_tool_use !== true,
        isStreamed: stream === true,
        wantsUsage: true,
        inputs: [
          ...system.map(seen),
          ...parts.map(part => (part.type === 'tool_result' ? result(part) : seen(part))),
        ],
      },
    };
  },
  message: anthropicMessage,
  *events(request, calls) {
    const { content, ...message } = anthropicMessage(request, calls);
    const { stop_reason, stop_sequence } = message;
    const start = { ...message, content: [], stop_reason: null };
    const events: { readonly type: string; readonly [member: string]: unknown }[] = [
      { type: 'message_start', message: start },
      { type: 'ping' },
    ];
    for (const [index, { type, ...block }] of content.entries()) {
      const [empty, deltas] =
        'text' in block
          ? [{ text: '' }, [{ type: 'text_delta', text: block.text }]]
          : [
              { ...block, input: {} },
              ['', ...argumentPieces(block.input)].map(piece => ({
                type: 'input_json_delta',
                partial_json: piece,
              })),
            ];
      events.push({ type: 'content_block_start', index, content_block: { type, ...empty } });
      for (const delta of deltas) events.push({ type: 'content_block_delta', index, delta });
      events.push({ type: 'content_block_stop', index });
    }
    const usage = { output_tokens: TOKENS.output };
    events.push(
      { type: 'message_delta', delta: { stop_reason, stop_sequence }, usage },
      { type: 'message_stop' },
    );
    for (const event of events) yield `event: ${event.type}\n${data(event)}`;
  },
  error: (status, message) => ({
    type: 'error',
    error: { type: status === 404 ? 'not_found_error' : 'invalid_request_error', message },
  }),
};

function result(part: Part): ModelInput {
  const { tool_use_id: id, content = null, is_error: isError } = part;
  const parts = contentSchema.safeParse(content);
  const text = parts.success ? textOf(parts.data) : JSON.stringify(content);
  return { saw: isError === true ? 'failure' : 'model', id: String(id), text };
}

function anthropicMessage({ model }: ModelRequest, calls: readonly ToolCall[]) {
  const uses = calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input }));
  return {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model,
    content: uses.length === 0 ? [{ type: 'text', text: FINAL_TEXT }] : uses,
    stop_reason: uses.length === 0 ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: TOKENS.input, output_tokens: TOKENS.output },
  };
}

const openaiMessageSchema = z
  .looseObject({
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
    content: z.optional(contentSchema),
    tool_call_id: z.optional(z.string()),
  })
  .check(
    z.refine(({ role, tool_call_id: id }) => role !== 'tool' || id !== undefined, {
      error: 'must have a "tool_call_id", since its role is "tool"',
    }),
  );

const openaiSchema = z.looseObject({
  model: z.string(),
  messages: z.array(openaiMessageSchema).check(z.minLength(1)),
  tools: z.nullish(
    z.array(z.looseObject({ type: z.string(), function: z.optional(z.looseObject({ name: z.string() })) })),
  ),
  tool_choice: z.optional(z.unknown()),
  parallel_tool_calls: z.nullish(z.boolean()),
  stream: z.nullish(z.boolean()),
  stream_options: z.nullish(z.looseObject({ include_usage: z.nullish(z.boolean()) })),
});

const USAGE = {
  prompt_tokens: TOKENS.input,
  completion_tokens: TOKENS.output,
  total_tokens: TOKENS.input + TOKENS.output,
};

/** The Chat Completions API of OpenAI. */
const openai: Provider = {
  paths: ['/chat/completions'],
  cannot: [...USER_ABILITIES, 'failure'],
  env: url => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'sk-dummy' }),
  read(body) {
    const checked = validate(openaiSchema, body);
    if (!checked.ok) return checked;
    const { model, messages, tools, tool_choice: choice, stream, ...options } = checked.value;
    return {
      ok: true,
      value: {
        model,
        tools: choice === 'none' ? [] : (tools ?? []).flatMap(tool => tool.function?.name ?? []),
        allowsParallelCalls: options.parallel_tool_calls !== false,
        isStreamed: stream === true,
        wantsUsage: options.stream_options?.include_usage === true,
        inputs: messages.flatMap(({ role, content = [], tool_call_id: id }): ModelInput[] => {
          if (role === 'tool') return [{ saw: 'model', id, text: textOf(content) }];
          return role === 'assistant' ? [] : content.map(seen);
        }),
      },
    };
  },
  message(request, calls) {
    const isLast = calls.length === 0;
    const content = isLast
      ? { content: FINAL_TEXT }
      : { content: null, tool_calls: calls.map(call => functionCall(call, JSON.stringify(call.arguments))) };
    const message = { role: 'assistant', refusal: null, ...content };
    const reason = isLast ? 'stop' : 'tool_calls';
    return {
      ...completion(request, 'chat.completion'),
      choices: [{ index: 0, message, logprobs: null, finish_reason: reason }],
      usage: USAGE,
    };
  },
  *events(request, calls) {
    const { wantsUsage } = request;
    const start = { ...completion(request, 'chat.completion.chunk'), ...(wantsUsage && { usage: null }) };
    const chunk = (delta: unknown, reason: string | null = null) =>
      data({ ...start, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] });
    const isLast = calls.length === 0;
    yield chunk({ role: 'assistant', content: isLast ? '' : null, refusal: null });
    if (isLast) yield chunk({ content: FINAL_TEXT });
    for (const [index, call] of calls.entries()) {
      yield chunk({ tool_calls: [{ index, ...functionCall(call, '') }] });
      for (const piece of argumentPieces(call.arguments))
        yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
    yield chunk({}, isLast ? 'stop' : 'tool_calls');
    if (wantsUsage) yield data({ ...start, choices: [], usage: USAGE });
    yield 'data: [DONE]';
  },
  error: (_, message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
};

function completion({ model }: ModelRequest, object: string) {
  return { id: `chatcmpl-${randomUUID()}`, object, created: Math.floor(Date.now() / 1000), model };
}

function functionCall({ id, name }: ToolCall, json: string) {
  return { id, type: 'function', function: { name, arguments: json } };
}

export const PROVIDERS = { anthropic, openai } satisfies Record<string, Provider>;
