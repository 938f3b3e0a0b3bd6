import * as z from 'zod/mini';
import type { Answer } from '../../../http/route.js';
import { ABILITIES } from '../../../protocol/driver.js';
import { wholeCharacters } from '../../../util/text.js';
import { valueAt } from '../../../util/values.js';

/** Something that a request gives to the model. */
export type ModelInput =
  | { readonly kind: 'result'; readonly id: string; readonly text: string; readonly isError: boolean }
  | { readonly kind: 'text'; readonly text: string };

export interface ModelRequest {
  readonly model: string;
  /** Names of the tools that the model may call. */
  readonly tools: readonly string[];
  readonly allowsParallelCalls: boolean;
  readonly isStreamed: boolean;
  readonly wantsUsage: boolean;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type RequestReading =
  | {
      readonly ok: true;
      readonly request: ModelRequest;
      /** The whole conversation, in order, without the messages of the model. */
      readonly inputs: readonly ModelInput[];
    }
  | { readonly ok: false; readonly faults: readonly string[] };

export interface Provider {
  /** Paths without the prefix `/v1`, which base URLs may or may not contain. */
  readonly path: string;
  readonly countPath?: string;
  /** What the driver protocol has and the provider's API cannot express. */
  readonly cannot: readonly string[];
  env(url: string): Readonly<Record<string, string>>;
  read(body: unknown): RequestReading;
  /** Without calls, the model answers with a text and ends its turn. */
  answer(request: ModelRequest, calls: readonly ToolCall[]): Answer;
  error(status: number, message: string): Answer;
}

/** The part of the driver protocol that concerns the user and the session. */
export const USER_ABILITIES = ABILITIES.filter(
  ability => !['invoke', 'end', 'model', 'failure'].includes(ability),
);

/** The text of the model when it calls no tool. */
export const FINAL_TEXT = 'Done.';

/** Small and constant, so that no agent shortens its conversation because of it. */
export const TOKENS = { input: 100, output: 20 } as const;

const REQUIRED: Readonly<Record<string, 'text' | 'tool_use_id'>> = {
  text: 'text',
  tool_result: 'tool_use_id',
};

const partSchema = z.looseObject({ type: z.string() }).check(
  z.refine(
    part => {
      const member = REQUIRED[part.type];
      return member === undefined || typeof part[member] === 'string';
    },
    { error: 'must have the string that its type requires: "text", or "tool_use_id" for a tool result' },
  ),
);

export type Part = z.infer<typeof partSchema>;

/** The parts of a message; a string is one text; null has no parts. */
export const contentSchema = z.pipe(
  z.transform((content: unknown) => {
    if (typeof content === 'string') return [{ type: 'text', text: content }];
    return content === null ? [] : content;
  }),
  z.array(partSchema),
);

/** A part as text: `[image image/png]` for anything but text. */
export function partText(part: Part): string {
  if (part.type === 'text') return String(part['text']);
  const mediaType = valueAt(part, 'source', 'media_type') ?? dataType(valueAt(part, 'image_url', 'url'));
  return `[${part.type.replace(/_url$/, '')}${typeof mediaType === 'string' ? ` ${mediaType}` : ''}]`;
}

/** The media type of a data URL. */
function dataType(url: unknown): string | undefined {
  return typeof url === 'string' ? /^data:([\w.+-]+\/[\w.+-]+)/.exec(url)?.[1] : undefined;
}

export function textInputs(parts: readonly Part[]): ModelInput[] {
  return parts.map(part => ({ kind: 'text', text: partText(part) }));
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

const PIECES = 3;

/** The arguments as JSON in a few pieces, as a model streams them. */
export function* argumentPieces(call: ToolCall): Generator<string> {
  const json = JSON.stringify(call.arguments);
  const length = Math.ceil(json.length / PIECES);
  for (let from = 0; from < json.length; ) {
    const to = wholeCharacters(json, from + length);
    yield json.slice(from, to);
    from = to;
  }
}
