import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { validate } from '../../../protocol/validate.js';
import {
  argumentPieces,
  contentSchema,
  eventStream,
  FINAL_TEXT,
  jsonAnswer,
  type ModelInput,
  type ModelRequest,
  type Provider,
  partText,
  type RequestReading,
  TOKENS,
  type ToolCall,
  textInputs,
  USER_ABILITIES,
} from './provider.js';

const messageSchema = z
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

const requestSchema = z.looseObject({
  model: z.string(),
  messages: z.array(messageSchema).check(z.minLength(1)),
  tools: z.nullish(
    z.array(z.looseObject({ type: z.string(), function: z.optional(z.looseObject({ name: z.string() })) })),
  ),
  tool_choice: z.optional(z.unknown()),
  parallel_tool_calls: z.nullish(z.boolean()),
  stream: z.nullish(z.boolean()),
  stream_options: z.nullish(z.looseObject({ include_usage: z.nullish(z.boolean()) })),
});

/** The Chat Completions API of OpenAI. */
export const openai: Provider = {
  path: '/chat/completions',
  cannot: [...USER_ABILITIES, 'failure'],
  env: url => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'sk-dummy' }),
  read,
  answer: (request, calls) =>
    request.isStreamed
      ? eventStream(streamed(request, calls))
      : jsonAnswer(200, {
          ...head(request, 'chat.completion'),
          choices: [{ index: 0, message: message(calls), logprobs: null, finish_reason: finish(calls) }],
          usage: USAGE,
        }),
  error: (status, text) =>
    jsonAnswer(status, {
      error: { message: text, type: 'invalid_request_error', param: null, code: null },
    }),
};

const USAGE = {
  prompt_tokens: TOKENS.input,
  completion_tokens: TOKENS.output,
  total_tokens: TOKENS.input + TOKENS.output,
};

function read(body: unknown): RequestReading {
  const checked = validate(requestSchema, body);
  if (!checked.ok) return checked;
  const { model, messages, tools, tool_choice: choice, stream, stream_options: options } = checked.value;
  const request = {
    model,
    tools: choice === 'none' ? [] : (tools ?? []).flatMap(tool => tool.function?.name ?? []),
    allowsParallelCalls: checked.value.parallel_tool_calls !== false,
    isStreamed: stream === true,
    wantsUsage: options?.include_usage === true,
  };
  return { ok: true, request, inputs: messages.flatMap(inputsOf) };
}

function inputsOf({ role, content = [], tool_call_id: id }: z.infer<typeof messageSchema>): ModelInput[] {
  if (role === 'assistant') return [];
  if (role !== 'tool' || id === undefined) return textInputs(content);
  return [{ kind: 'result', id, text: content.map(partText).join('\n'), isError: false }];
}

function head({ model }: ModelRequest, object: string) {
  return { id: `chatcmpl-${randomUUID()}`, object, created: Math.floor(Date.now() / 1000), model };
}

function finish(calls: readonly ToolCall[]): string {
  return calls.length === 0 ? 'stop' : 'tool_calls';
}

function message(calls: readonly ToolCall[]) {
  if (calls.length === 0) return { role: 'assistant', content: FINAL_TEXT, refusal: null };
  return {
    role: 'assistant',
    content: null,
    refusal: null,
    tool_calls: calls.map(call => functionCall(call, JSON.stringify(call.arguments))),
  };
}

function functionCall({ id, name }: ToolCall, json: string) {
  return { id, type: 'function', function: { name, arguments: json } };
}

function* streamed(request: ModelRequest, calls: readonly ToolCall[]): Generator<string> {
  const start = { ...head(request, 'chat.completion.chunk'), ...(request.wantsUsage && { usage: null }) };
  const chunk = (delta: unknown, reason: string | null = null) =>
    data({ ...start, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] });
  yield chunk({ role: 'assistant', content: calls.length === 0 ? '' : null, refusal: null });
  if (calls.length === 0) yield chunk({ content: FINAL_TEXT });
  for (const [index, call] of calls.entries()) {
    yield chunk({ tool_calls: [{ index, ...functionCall(call, '') }] });
    for (const piece of argumentPieces(call))
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield chunk({}, finish(calls));
  if (request.wantsUsage) yield data({ ...start, choices: [], usage: USAGE });
  yield 'data: [DONE]';
}

function data(value: unknown): string {
  return `data: ${JSON.stringify(value)}`;
}
