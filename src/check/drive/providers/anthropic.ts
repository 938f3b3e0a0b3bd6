import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { type Validation, validate } from '../../../protocol/validate.js';
import {
  contentSchema,
  eventStream,
  FINAL_TEXT,
  jsonAnswer,
  jsonPieces,
  MODEL_CANNOT,
  MODEL_NAME,
  type ModelInput,
  type ModelRequest,
  modelInputOf,
  type Part,
  type Provider,
  sseData,
  TOKENS,
  type ToolCall,
  textOf,
} from './api.js';

const requestSchema = z
  .looseObject({
    model: z.string(),
    max_tokens: z.optional(z.int().check(z.minimum(0))),
    messages: z.array(
      z.looseObject({ role: z.enum(['user', 'assistant', 'system']), content: contentSchema }),
    ),
    system: z.optional(contentSchema),
    tools: z.nullish(z.array(z.looseObject({ name: z.string() }))),
    tool_choice: z.nullish(
      z.looseObject({ type: z.string(), disable_parallel_tool_use: z.optional(z.boolean()) }),
    ),
    stream: z.nullish(z.boolean()),
    thread: z.nullish(
      z.looseObject({
        type: z.enum(['create', 'continue']),
        previous_message_id: z.optional(z.string()),
      }),
    ),
  })
  .check(
    z.refine(({ messages, thread }) => messages.length > 0 || thread?.type === 'continue', {
      path: ['messages'],
      error: 'must have at least 1 item',
    }),
  );

const MODELS = {
  data: [{ type: 'model', id: MODEL_NAME, display_name: MODEL_NAME, created_at: new Date(0).toISOString() }],
  first_id: MODEL_NAME,
  last_id: MODEL_NAME,
  has_more: false,
};

/** The Messages API of Anthropic. */
export const anthropic: Provider = {
  apis: [{ path: '/messages', read }],
  fixedEndpoints: [
    {
      method: 'POST',
      path: '/messages/count_tokens',
      answer: () => jsonAnswer(200, { input_tokens: TOKENS.input }),
    },
    { method: 'GET', path: '/models', answer: () => jsonAnswer(200, MODELS) },
  ],
  cannot: MODEL_CANNOT,
  env: url => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'sk-ant-dummy' }),
  error: (status, message, code) =>
    jsonAnswer(status, {
      type: 'error',
      error: {
        type: status === 404 ? 'not_found_error' : 'invalid_request_error',
        message,
        // the SDK then sends the whole conversation in a new thread
        ...(code === 'unknown-response' && { details: { error_code: 'thread_not_found' } }),
      },
    }),
};

function read(body: unknown): Validation<ModelRequest> {
  const checked = validate(requestSchema, body);
  if (!checked.ok) return checked;
  const { model, messages, system = [], tools, tool_choice: choice, stream, thread } = checked.value;
  const parts = messages.flatMap(({ role, content }) => (role === 'assistant' ? [] : content));
  const id = `msg_${randomUUID()}`;
  const isContinued = thread?.type === 'continue'; // then it repeats neither the tools nor the system prompt
  return {
    ok: true,
    value: {
      id,
      previous: isContinued ? (thread.previous_message_id ?? '') : undefined,
      isContinuable: Boolean(thread),
      tools: offeredTools(),
      allowsParallelCalls: choice?.disable_parallel_tool_use !== true,
      inputs: [...system, ...parts].map(part =>
        part.type === 'tool_result' ? result(part) : modelInputOf(part),
      ),
      answer: calls =>
        stream === true
          ? eventStream(eventsOf(id, model, calls))
          : jsonAnswer(200, messageOf(id, model, calls)),
    },
  };

  function offeredTools() {
    if (choice?.type === 'none') return [];
    if (!tools && isContinued) return null;
    return (tools ?? []).map(tool => ({ name: tool.name, parameters: tool['input_schema'] }));
  }
}

function result(part: Part): ModelInput {
  const { tool_use_id: id, content = null, is_error: isError } = part;
  const parts = contentSchema.safeParse(content);
  const text = parts.success ? textOf(parts.data) : JSON.stringify(content);
  return { saw: isError === true ? 'failure' : 'model', id: String(id), text };
}

function messageOf(id: string, model: string, calls: readonly ToolCall[]) {
  const uses = calls.map(({ arguments: input, ...call }) => ({ type: 'tool_use', ...call, input }));
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content: uses.length === 0 ? [{ type: 'text', text: FINAL_TEXT }] : uses,
    stop_reason: uses.length === 0 ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: TOKENS.input, output_tokens: TOKENS.output },
  };
}

function* eventsOf(id: string, model: string, calls: readonly ToolCall[]): Generator<string> {
  const { content, stop_reason, ...message } = messageOf(id, model, calls);
  const event = (type: string, members: object = {}) => `event: ${type}\n${sseData({ type, ...members })}`;
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
      : ['', ...jsonPieces(JSON.stringify(block.input))].map(partial_json => ({
          type: 'input_json_delta',
          partial_json,
        }));
    for (const delta of deltas) yield event('content_block_delta', { index, delta });
    yield event('content_block_stop', { index });
  }
  const delta = { stop_reason, stop_sequence: null };
  yield event('message_delta', { delta, usage: { output_tokens: TOKENS.output } });
  yield event('message_stop');
}
