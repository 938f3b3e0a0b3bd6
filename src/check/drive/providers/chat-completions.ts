import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { type Validation, validate } from '../../../protocol/validate.js';
import {
  type Api,
  contentSchema,
  eventStream,
  FINAL_TEXT,
  jsonAnswer,
  jsonPieces,
  type ModelInput,
  type ModelRequest,
  modelInputOf,
  sseData,
  TOKENS,
  type ToolCall,
  textOf,
} from './api.js';

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

const USAGE = {
  prompt_tokens: TOKENS.input,
  completion_tokens: TOKENS.output,
  total_tokens: TOKENS.input + TOKENS.output,
};

/** The Chat Completions API of OpenAI. */
export const chatCompletions: Api = { path: '/chat/completions', read };

function read(body: unknown): Validation<ModelRequest> {
  const checked = validate(requestSchema, body);
  if (!checked.ok) return checked;
  const { model, messages, tools, tool_choice: choice, stream, ...options } = checked.value;
  const wantsUsage = options.stream_options?.include_usage === true;
  const id = `chatcmpl-${randomUUID()}`;
  return {
    ok: true,
    value: {
      id,
      previous: undefined,
      isContinuable: false,
      tools:
        choice === 'none'
          ? []
          : (tools ?? []).flatMap(({ function: tool }) =>
              tool ? { name: tool.name, parameters: tool['parameters'] } : [],
            ),
      allowsParallelCalls: options.parallel_tool_calls !== false,
      inputs: messages.flatMap(({ role, content = [], tool_call_id: call }): ModelInput[] => {
        if (role === 'tool') return [{ saw: 'model', id: call, text: textOf(content) }];
        return role === 'assistant' ? [] : content.map(modelInputOf);
      }),
      answer: calls =>
        stream === true
          ? eventStream(chunksOf(id, model, calls, wantsUsage))
          : jsonAnswer(200, completionOf(id, model, calls)),
    },
  };
}

function completion(id: string, model: string, object: string) {
  return { id, object, created: Math.floor(Date.now() / 1000), model };
}

function completionOf(id: string, model: string, calls: readonly ToolCall[]) {
  const isLast = calls.length === 0;
  const content = isLast
    ? { content: FINAL_TEXT }
    : { content: null, tool_calls: calls.map(call => functionCall(call, JSON.stringify(call.arguments))) };
  const message = { role: 'assistant', refusal: null, ...content };
  const choice = { index: 0, message, logprobs: null, finish_reason: isLast ? 'stop' : 'tool_calls' };
  return { ...completion(id, model, 'chat.completion'), choices: [choice], usage: USAGE };
}

function* chunksOf(
  id: string,
  model: string,
  calls: readonly ToolCall[],
  wantsUsage: boolean,
): Generator<string> {
  const start = { ...completion(id, model, 'chat.completion.chunk'), ...(wantsUsage && { usage: null }) };
  const chunk = (delta: unknown, reason: string | null = null) =>
    sseData({ ...start, choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] });
  const isLast = calls.length === 0;
  yield chunk({ role: 'assistant', content: isLast ? '' : null, refusal: null });
  if (isLast) yield chunk({ content: FINAL_TEXT });
  for (const [index, call] of calls.entries()) {
    yield chunk({ tool_calls: [{ index, ...functionCall(call, '') }] });
    for (const piece of jsonPieces(JSON.stringify(call.arguments)))
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield chunk({}, isLast ? 'stop' : 'tool_calls');
  if (wantsUsage) yield sseData({ ...start, choices: [], usage: USAGE });
  yield 'data: [DONE]';
}

function functionCall({ id, name }: ToolCall, json: string) {
  return { id, type: 'function', function: { name, arguments: json } };
}
