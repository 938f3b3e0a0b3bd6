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
  type Part,
  type Provider,
  partText,
  type RequestReading,
  TOKENS,
  type ToolCall,
  textInputs,
  USER_ABILITIES,
} from './provider.js';

const requestSchema = z.looseObject({
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
export const anthropic: Provider = {
  path: '/messages',
  countPath: '/messages/count_tokens',
  cannot: USER_ABILITIES,
  env: url => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-ant-dummy' }),
  read,
  answer: (request, calls) =>
    request.isStreamed
      ? eventStream(streamed(request, calls))
      : jsonAnswer(200, {
          ...messageStart(request),
          content: calls.length === 0 ? [{ type: 'text', text: FINAL_TEXT }] : calls.map(toolUse),
          ...stop(calls),
          usage: { input_tokens: TOKENS.input, output_tokens: TOKENS.output },
        }),
  error: (status, message) =>
    jsonAnswer(status, {
      type: 'error',
      error: { type: status === 404 ? 'not_found_error' : 'invalid_request_error', message },
    }),
};

function read(body: unknown): RequestReading {
  const checked = validate(requestSchema, body);
  if (!checked.ok) return checked;
  const { model, messages, system = [], tools, tool_choice: choice, stream } = checked.value;
  const request = {
    model,
    tools: choice?.type === 'none' ? [] : (tools ?? []).map(({ name }) => name),
    allowsParallelCalls: choice?.disable_parallel_tool_use !== true,
    isStreamed: stream === true,
    wantsUsage: true,
  };
  const received = messages.filter(({ role }) => role !== 'assistant').flatMap(({ content }) => content);
  return { ok: true, request, inputs: [...textInputs(system), ...received.map(inputOf)] };
}

function inputOf(part: Part): ModelInput {
  if (part.type !== 'tool_result') return { kind: 'text', text: partText(part) };
  return {
    kind: 'result',
    id: String(part['tool_use_id']),
    text: resultText(part['content']),
    isError: part['is_error'] === true,
  };
}

function resultText(content: unknown): string {
  const parts = contentSchema.safeParse(content ?? null);
  return parts.success ? parts.data.map(partText).join('\n') : JSON.stringify(content);
}

function messageStart({ model }: ModelRequest) {
  return {
    id: `msg_${randomUUID()}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [] as unknown[],
    stop_reason: null as string | null,
    stop_sequence: null,
    usage: { input_tokens: TOKENS.input, output_tokens: 1 },
  };
}

function stop(calls: readonly ToolCall[]) {
  return { stop_reason: calls.length === 0 ? 'end_turn' : 'tool_use', stop_sequence: null };
}

function toolUse({ id, name, arguments: input }: ToolCall) {
  return { type: 'tool_use', id, name, input };
}

function* streamed(request: ModelRequest, calls: readonly ToolCall[]): Generator<string> {
  yield event({ type: 'message_start', message: messageStart(request) });
  yield event({ type: 'ping' });
  if (calls.length === 0)
    yield* block(0, { type: 'text', text: '' }, [{ type: 'text_delta', text: FINAL_TEXT }]);
  for (const [index, call] of calls.entries()) {
    const deltas = ['', ...argumentPieces(call)].map(piece => ({
      type: 'input_json_delta',
      partial_json: piece,
    }));
    yield* block(index, { ...toolUse(call), input: {} }, deltas);
  }
  yield event({ type: 'message_delta', delta: stop(calls), usage: { output_tokens: TOKENS.output } });
  yield event({ type: 'message_stop' });
}

function* block(index: number, start: unknown, deltas: readonly unknown[]): Generator<string> {
  yield event({ type: 'content_block_start', index, content_block: start });
  for (const delta of deltas) yield event({ type: 'content_block_delta', index, delta });
  yield event({ type: 'content_block_stop', index });
}

function event(data: { readonly type: string; readonly [member: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}`;
}
