import * as z from 'zod/mini';
import type { Answer } from '../../../http/route.js';
import { ABILITIES, type Observation, OPTIONAL_ABILITIES } from '../../../protocol/driver.js';
import type { Validation } from '../../../protocol/validate.js';
import { codePointEnd } from '../../../util/text.js';
import { valueAt } from '../../../util/values.js';

/** What the model gets. */
export type ModelInput = Observation<'model' | 'failure'>;

export interface ToolCall {
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

export interface ModelRequest {
  /** The id of the response. */
  readonly id: string;
  /** The id of the response that the request continues: its conversation precedes `inputs`. */
  readonly previous: string | undefined;
  /** Whether a later request can continue the response. */
  readonly isContinuable: boolean;
  /** The tools that the model may call; null for those of the conversation that the request continues. */
  readonly tools: readonly OfferedTool[] | null;
  readonly allowsParallelCalls: boolean;
  /** The whole conversation, in order, without the messages of the model. */
  readonly inputs: readonly ModelInput[];
  /** The message of the model. Without calls, it is a text that ends the turn. */
  readonly answer: (calls: readonly ToolCall[]) => Answer;
}

/** An endpoint to which an agent sends its conversation. */
export interface Api {
  /** Without the prefix `/v1`, which base URLs may or may not contain. */
  readonly path: string;
  read(body: unknown): Validation<ModelRequest>;
}

/** An endpoint with the same answer to each request. */
export interface FixedEndpoint {
  readonly method: 'GET' | 'POST';
  /** As in {@link Api}. */
  readonly path: string;
  readonly answer: () => Answer;
}

export interface Provider {
  readonly apis: readonly [Api, ...Api[]];
  /** Other endpoints, which need no conversation. */
  readonly fixedEndpoints: readonly FixedEndpoint[];
  /** What the driver protocol has and the APIs cannot express. */
  readonly cannot: readonly string[];
  env(url: string): Readonly<Record<string, string>>;
  /** @param code of an error that SDKs handle themselves */
  error(status: number, message: string, code?: ModelErrorCode): Answer;
}

/** A request continues a response that the model does not have. */
export type ModelErrorCode = 'unknown-response';

/** The abilities of the driver protocol that a model does not have: what the user does and sees, and the end of the session. */
export const MODEL_CANNOT = ABILITIES.filter(
  ability => ![...OPTIONAL_ABILITIES, 'invoke', 'model', 'failure'].includes(ability),
);

/** The text of the model when it calls no tool. */
export const FINAL_TEXT = 'Done.';

/** The only model in lists of models; requests may name any other one. */
export const MODEL_NAME = 'scripted-model';

/** Small and constant, so that no agent shortens its conversation because of it. */
export const TOKENS = { input: 100, output: 20 } as const;

/** The string that a part of a type must have. */
const REQUIRED: Readonly<Record<string, 'text' | 'tool_use_id'>> = {
  text: 'text',
  tool_result: 'tool_use_id',
};

const partSchema = z.looseObject({ type: z.string() }).check(
  z.refine(
    part => !Object.hasOwn(REQUIRED, part.type) || typeof part[REQUIRED[part.type] ?? ''] === 'string',
    {
      error: 'must have the string that its type requires: "text", or "tool_use_id" for a tool result',
    },
  ),
);

export type Part = z.infer<typeof partSchema>;

/** The parts of a message; a string is one text; null has no parts. */
export const contentSchema = z.pipe(
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

export function textOf(parts: readonly Part[]): string {
  return parts.map(partText).join('\n');
}

export function modelInputOf(part: Part): ModelInput {
  return { saw: 'model', text: partText(part) };
}

const PIECES = 3;

/** The JSON of arguments in a few pieces, as a model streams them. */
export function* jsonPieces(json: string): Generator<string> {
  const length = Math.ceil(json.length / PIECES);
  for (let from = 0; from < json.length; ) {
    const to = codePointEnd(json, from + length);
    yield json.slice(from, to);
    from = to;
  }
}

export function jsonAnswer(status: number, value: unknown): Answer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(value) };
}

/** Server-sent events, each written on its own. */
export function eventStream(events: Iterable<string>): Answer {
  const headers = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' };
  return { status: 200, headers, pieces: encoded(events) };
}

function* encoded(events: Iterable<string>): Generator<Uint8Array> {
  for (const event of events) yield Buffer.from(`${event}\n\n`);
}

export function sseData(value: unknown): string {
  return `data: ${JSON.stringify(value)}`;
}
