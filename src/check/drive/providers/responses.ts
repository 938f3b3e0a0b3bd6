import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import { type Validation, validate } from '../../../protocol/validate.js';
import { isRecord } from '../../../util/values.js';
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
  type Part,
  sseData,
  TOKENS,
  type ToolCall,
  textOf,
} from './api.js';

/** The parts of a message, as those of the other APIs: a text of any kind is `text`, and an image has its URL in `image_url`. */
const partsSchema = z.pipe(
  z.transform((content: unknown) => (Array.isArray(content) ? content.map(plainPart) : content)),
  contentSchema,
);

function plainPart(part: unknown): unknown {
  if (!isRecord(part)) return part;
  if (part['type'] === 'input_text' || part['type'] === 'output_text') return { ...part, type: 'text' };
  if (part['type'] !== 'input_image') return part;
  return { type: 'image', image_url: { url: part['image_url'] } };
}

/** An item without a type is a message. */
const itemSchema = z
  .looseObject({
    type: z.optional(z.string()),
    role: z.optional(z.string()),
    content: z.optional(z.unknown()),
    call_id: z.optional(z.string()),
  })
  .check(
    z.refine(({ type, call_id: id }) => type !== 'function_call_output' || id !== undefined, {
      error: 'must have a "call_id", since its type is "function_call_output"',
    }),
  );

const requestSchema = z.looseObject({
  model: z.string(),
  input: z.nullish(z.union([z.string(), z.array(itemSchema)])),
  instructions: z.nullish(z.string()),
  previous_response_id: z.nullish(z.string()),
  tools: z.nullish(z.array(z.looseObject({ type: z.string(), name: z.optional(z.string()) }))),
  tool_choice: z.optional(z.unknown()),
  parallel_tool_calls: z.nullish(z.boolean()),
  stream: z.nullish(z.boolean()),
});

/** The Responses API of OpenAI. */
export const responses: Api = { path: '/responses', read };

function read(body: unknown): Validation<ModelRequest> {
  const checked = validate(requestSchema, body);
  if (!checked.ok) return checked;
  const { model, input, instructions, tools, tool_choice: choice, stream, ...options } = checked.value;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : (input ?? []);
  const id = `resp_${randomUUID()}`;
  return {
    ok: true,
    value: {
      id,
      previous: options.previous_response_id ?? undefined,
      isContinuable: true,
      tools:
        choice === 'none'
          ? []
          : (tools ?? []).flatMap(({ name, parameters }) => (name === undefined ? [] : { name, parameters })),
      allowsParallelCalls: options.parallel_tool_calls !== false,
      inputs: [
        // each request repeats the instructions, also one that continues a response
        ...(instructions && !options.previous_response_id
          ? [modelInputOf({ type: 'text', text: instructions })]
          : []),
        ...items.flatMap(inputsOf),
      ],
      answer: calls =>
        stream === true
          ? eventStream(eventsOf(id, model, calls))
          : jsonAnswer(200, responseOf(id, model, calls)),
    },
  };
}

/** Nothing for items of the model: its messages, its calls, its reasoning, and references to them. */
function inputsOf(item: z.infer<typeof itemSchema>): readonly ModelInput[] {
  const { type = 'message', role, call_id: id } = item;
  if (type === 'function_call_output') return [{ saw: 'model', id, text: textOf(partsOf(item['output'])) }];
  return type === 'message' && role !== 'assistant' ? partsOf(item.content).map(modelInputOf) : [];
}

function partsOf(content: unknown): readonly Part[] {
  const parts = partsSchema.safeParse(content);
  return parts.success ? parts.data : [{ type: 'text', text: JSON.stringify(content) }];
}

function responseOf(id: string, model: string, calls: readonly ToolCall[]) {
  const items = calls.map(call => ({
    id: `fc_${randomUUID()}`,
    type: 'function_call' as const,
    status: 'completed',
    call_id: call.id,
    name: call.name,
    arguments: JSON.stringify(call.arguments),
  }));
  return {
    id,
    object: 'response',
    created_at: Math.floor(Date.now() / 1000),
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model,
    output: items.length > 0 ? items : [finalMessage()],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    usage: {
      input_tokens: TOKENS.input,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: TOKENS.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: TOKENS.input + TOKENS.output,
    },
  };
}

function finalMessage() {
  return {
    id: `msg_${randomUUID()}`,
    type: 'message' as const,
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text: FINAL_TEXT, annotations: [], logprobs: [] }],
  };
}

function* eventsOf(id: string, model: string, calls: readonly ToolCall[]): Generator<string> {
  const response = responseOf(id, model, calls);
  let number = 0;
  const event = (type: string, members: object) =>
    `event: ${type}\n${sseData({ type, sequence_number: number++, ...members })}`;
  const begun = { ...response, status: 'in_progress', output: [], usage: null };
  yield event('response.created', { response: begun });
  yield event('response.in_progress', { response: begun });
  for (const [output_index, item] of response.output.entries()) {
    const place = { item_id: item.id, output_index };
    if (item.type === 'function_call') {
      const added = { ...item, status: 'in_progress', arguments: '' };
      yield event('response.output_item.added', { output_index, item: added });
      for (const delta of jsonPieces(item.arguments))
        yield event('response.function_call_arguments.delta', { ...place, delta });
      const { name, arguments: json } = item;
      yield event('response.function_call_arguments.done', { ...place, name, arguments: json });
    } else {
      yield event('response.output_item.added', {
        output_index,
        item: { ...item, status: 'in_progress', content: [] },
      });
      for (const [content_index, part] of item.content.entries()) {
        const at = { ...place, content_index };
        yield event('response.content_part.added', { ...at, part: { ...part, text: '' } });
        yield event('response.output_text.delta', { ...at, delta: part.text, logprobs: [] });
        yield event('response.output_text.done', { ...at, text: part.text, logprobs: [] });
        yield event('response.content_part.done', { ...at, part });
      }
    }
    yield event('response.output_item.done', { output_index, item });
  }
  yield event('response.completed', { response });
}
