import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import type { Answer } from '../../http/route.js';
import { ABILITIES, type Observation, OPTIONAL_ABILITIES } from '../../protocol/driver.js';
import { type Validation, validate } from '../../protocol/validate.js';
import { codePointEnd } from '../../util/text.js';
import { valueAt } from '../../util/values.js';

/** What the model gets. */
type ModelInput = Observation<'model' | 'failure'>;

interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A tool that an agent offers to the model. */
export interface OfferedTool {
  readonly name: string;
  /** The JSON Schema of its arguments, as received. */
  readonly parameters: unknown;
}

interface ModelRequest {
  /** The tools that the model may call. */
  readonly tools: readonly OfferedTool[];
  readonly allowsParallelCalls: boolean;
  /** The whole conversation, in order, without the messages of the model. */
  readonly inputs: readonly ModelInput[];
  /** The message of the model. Without calls, it is a text that ends the turn. */
  readonly answer: (calls: readonly ToolCall[]) => Answer;
}

/** The API of a provider. */
interface Provider {
  /** Paths without the prefix `/v1`, which base URLs may or may not contain: of messages, and of their number of tokens. */
  readonly paths: readonly [messages: string, count?: string];
  /** What the driver protocol has and the API cannot express. */
  readonly cannot: readonly string[];
  env(url: string): Readonly<Record<string, string>>;
  read(body: unknown): Validation<ModelRequest>;
  /** The answer with the number of tokens. */
  count?(): Answer;
  error(status: number, message: string): Answer;
}

/** The part of the driver protocol that concerns the user and the session. */
const USER_ABILITIES = ABILITIES.filter(
  ability => ![...OPTIONAL_ABILITIES, 'invoke', 'end', 'model', 'failure'].includes(ability),
);

/** The text of the model when it calls no tool. */
const FINAL_TEXT = 'Done.';

/** Small and constant, so that no agent shortens its conversation because of it. */
const TOKENS = { input: 100, output: 20 } as const;

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
function* pieces(args: unknown): Generator<string> {
  const json = JSON.stringify(args);
  const length = Math.ceil(json.length / PIECES);
  for (let from = 0; from < json.length; ) {
    const to = codePointEnd(json, from + length);
    yield json.slice(from, to);
    from = to;
  }
}

function jsonAnswer(status: number, value: unknown): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

/** Server-sent events, each written on its own. */
function eventStream(events: Iterable<string>): Answer {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
  return { status: 200, headers, pieces: encoded(events) };
}

function* encoded(events: Iterable<string>): Generator<Uint8Array> {
  for (const event of events) yield Buffer.from(`${event}\n\n`);
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
        tools:
          choice?.type === 'none'
            ? []
            : (tools ?? []).map(tool => ({ name: tool.name, parameters: tool['input_schema'] })),
        allowsParallelCalls: choice?.disable_parallel_tool_use !== true,
        inputs: [...system, ...parts].map(part => (part.type === 'tool_result' ? result(part) : seen(part))),
        answer: calls => {
          const message = messageOf(model, calls);
          return stream === true ? eventStream(eventsOf(message)) : jsonAnswer(200, message);
        },
      },
    };
  },
  count: () => jsonAnswer(200, { input_tokens: TOKENS.input }),
  error: (status, message) =>
    jsonAnswer(status, {
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

function messageOf(model: string, calls: readonly ToolCall[]) {
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

function* eventsOf({ content, stop_reason, ...message }: ReturnType<typeof messageOf>): Generator<string> {
  const event = (type: string, members: object = {}) => `event: ${type}\n${data({ type, ...members })}`;
  yield event('message_start', { message: { ...message, content: [], stop_reason: null } });
  yield event('ping');
  for (const [index, block] of content.entries()) {
    const isText = 'text' in block;
    yield event('content_block_start', {
      index,
      content_block: { ...block, ...(isText ? { text: '' } : { input: {} }) },
    });
    const deltas = isText
      ? [{ type: 'text_delta', text: block.text }]
      : ['', ...pieces(block.input)].map(partial_json => ({ type: 'input_json_delta', partial_json }));
    for (const delta of deltas) yield event('content_block_delta', { index, delta });
    yield event('content_block_stop', { index });
  }
  const delta = { stop_reason, stop_sequence: null };
  yield event('message_delta', { delta, usage: { output_tokens: TOKENS.output } });
  yield event('message_stop');
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
    const wantsUsage = options.stream_options?.include_usage === true;
    return {
      ok: true,
      value: {
        tools:
          choice === 'none'
            ? []
            : (tools ?? []).flatMap(({ function: tool }) =>
                tool ? { name: tool.name, parameters: tool['parameters'] } : [],
              ),
        allowsParallelCalls: options.parallel_tool_calls !== false,
        inputs: messages.flatMap(({ role, content = [], tool_call_id: id }): ModelInput[] => {
          if (role === 'tool') return [{ saw: 'model', id, text: textOf(content) }];
          return role === 'assistant' ? [] : content.map(seen);
        }),
        answer: calls =>
          stream === true
            ? eventStream(chunksOf(model, calls, wantsUsage))
            : jsonAnswer(200, completionOf(model, calls)),
      },
    };
  },
  error: (status, message) =>
    jsonAnswer(status, { error: { message, type: 'invalid_request_error', param: null, code: null } }),
};

function completion(model: string, object: string) {
  return { id: `chatcmpl-${randomUUID()}`, object, created: Math.floor(Date.now() / 1000), model };
}

function completionOf(model: string, calls: readonly ToolCall[]) {
  const isLast = calls.length === 0;
  const content = isLast
    ? { content: FINAL_TEXT }
    : { content: null, tool_calls: calls.map(call => functionCall(call, JSON.stringify(call.arguments))) };
  const message = { role: 'assistant', refusal: null, ...content };
  const choice = { index: 0, message, logprobs: null, finish_reason: isLast ? 'stop' : 'tool_calls' };
  return { ...completion(model, 'chat.completion'), choices: [choice], usage: USAGE };
}

function* chunksOf(model: string, calls: readonly ToolCall[], wantsUsage: boolean): Generator<string> {
  const start = { ...completion(model, 'chat.completion.chunk'), ...(wantsUsage && { usage: null }) };
  const chunk = (delta: unknown, reason: string | null = null) =>
    data({ ...start, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] });
  const isLast = calls.length === 0;
  yield chunk({ role: 'assistant', content: isLast ? '' : null, refusal: null });
  if (isLast) yield chunk({ content: FINAL_TEXT });
  for (const [index, call] of calls.entries()) {
    yield chunk({ tool_calls: [{ index, ...functionCall(call, '') }] });
    for (const piece of pieces(call.arguments))
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield chunk({}, isLast ? 'stop' : 'tool_calls');
  if (wantsUsage) yield data({ ...start, choices: [], usage: USAGE });
  yield 'data: [DONE]';
}

function functionCall({ id, name }: ToolCall, json: string) {
  return { id, type: 'function', function: { name, arguments: json } };
}

export const PROVIDERS: Readonly<Record<'anthropic' | 'openai', Provider>> = { anthropic, openai };
