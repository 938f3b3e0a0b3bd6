import * as z from 'zod/mini';
import { bytesText } from '../util/text.js';
import { isRecord } from '../util/values.js';
import type { ContentItem, ToolResult } from './callbacks.js';

const basis = z.enum(['declared', 'convention', 'ours', 'assumed']);

const text = z.optional(z.string());

/** How a tool call ended, in all supported systems (seed 002, platforms "One model"), and how that is known. */
export const judgedOutcomeSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('success'), basis }),
  z.object({
    type: z.literal('error'),
    message: z.string(),
    code: text,
    errorType: text,
    origin: text,
    data: z.optional(z.unknown()),
    basis,
  }),
  z.object({ type: z.literal('canceled'), reason: text, by: text, basis }),
  z.object({ type: z.literal('timeout'), durationMs: z.optional(z.number()), basis }),
  z.object({ type: z.literal('denied'), tool: text, reason: text, basis }),
  z.object({ type: z.literal('unknown'), raw: z.unknown(), basis }),
]);

/**
 * How a tool call ended. `durationMs` is in milliseconds; `raw` is what the tool sent and no format explains.
 * @example
 * const outcome: Outcome = { type: 'timeout', durationMs: 30_000 };
 */
export type Outcome =
  | { type: 'success' }
  | {
      type: 'error';
      message: string;
      code?: string | undefined;
      errorType?: string | undefined;
      origin?: string | undefined;
      /** More about the error, such as `error.data` of JSON-RPC. */
      data?: unknown;
    }
  | { type: 'canceled'; reason?: string | undefined; by?: string | undefined }
  | { type: 'timeout'; durationMs?: number | undefined }
  | { type: 'denied'; tool?: string | undefined; reason?: string | undefined }
  | { type: 'unknown'; raw: unknown };

/**
 * How an outcome is known: the message states it (`declared`), a text follows a convention, this program decided it (a timeout, a refused
 * acknowledgement), or success is assumed because nothing contradicts it.
 */
export type OutcomeBasis = 'declared' | 'convention' | 'ours' | 'assumed';

/** An outcome, and how it is known. */
export type JudgedOutcome = Outcome & { basis: OutcomeBasis };

const ERROR_PREFIX = 'Error: ';

/** Maximum length of a text that is searched for a payload by convention. */
const MAX_PAYLOAD = 64 * 1024;

/** Seed 002's recommended payloads. A value with other members is not one of them. */
const payloadSchema = z.union([
  z.strictObject({
    error: z.strictObject({ message: z.string(), code: text, type: text, data: z.optional(z.unknown()) }),
  }),
  z.strictObject({ canceled: z.strictObject({ reason: text, by: text }) }),
  z.strictObject({ timeout: z.strictObject({ durationMs: z.optional(z.number()) }) }),
  z.strictObject({ denied: z.strictObject({ tool: text, reason: text }) }),
]);

/**
 * Derives the outcome from the text that the LLM gets. RAP has no error type, so this is only a convention (TOOL-ERRPREFIX).
 * @example
 * outcomeOfText('Error: no such file'); // { type: 'error', message: 'no such file', basis: 'convention' }
 */
export function outcomeOfText(result: string): JudgedOutcome {
  if (result.startsWith(ERROR_PREFIX))
    return { type: 'error', message: result.slice(ERROR_PREFIX.length), basis: 'convention' };
  const mayBePayload = result.length <= MAX_PAYLOAD && result.trimStart().startsWith('{');
  const outcome = mayBePayload ? outcomeOfPayload(parsedJson(result)) : null;
  return outcome ? { ...outcome, basis: 'convention' } : { type: 'success', basis: 'assumed' };
}

/**
 * The text that tells the LLM about an outcome of our own; null for a success, which has a text of its own.
 * @example
 * textOfOutcome({ type: 'error', message: 'no such file' }); // Error: no such file
 */
export function textOfOutcome(outcome: Outcome): string | null {
  if (outcome.type === 'error') return ERROR_PREFIX + outcome.message;
  const payload = payloadOfOutcome(outcome);
  return payload && JSON.stringify(payload);
}

/** The outcome whose documented payload is this JSON value (seed 002); null without one. Never throws. */
export function outcomeOfPayload(value: unknown): Outcome | null {
  const parsed = isRecord(value) ? payloadSchema.safeParse(value) : undefined;
  if (!parsed?.success) return null;
  const payload = parsed.data;
  if ('error' in payload) {
    const { type, ...error } = payload.error; // its `type` would replace the outcome's
    return { type: 'error', ...error, ...(type !== undefined && { errorType: type }) };
  }
  if ('canceled' in payload) return { type: 'canceled', ...payload.canceled };
  if ('timeout' in payload) return { type: 'timeout', ...payload.timeout };
  return { type: 'denied', ...payload.denied };
}

/** The documented payload of an outcome (seed 002); null for a success, which has a payload of its own, and for an unknown outcome. */
export function payloadOfOutcome(outcome: Outcome): Record<string, unknown> | null {
  switch (outcome.type) {
    case 'error':
      return {
        error: given({
          message: outcome.message,
          code: outcome.code,
          type: outcome.errorType,
          data: outcome.data,
        }),
      };
    case 'canceled':
      return { canceled: given({ reason: outcome.reason, by: outcome.by }) };
    case 'timeout':
      return { timeout: given({ durationMs: outcome.durationMs }) };
    case 'denied':
      return { denied: given({ tool: outcome.tool, reason: outcome.reason }) };
    case 'success':
    case 'unknown':
      return null;
  }
}

function given(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function parsedJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}

/**
 * The text that the LLM gets: `text`, unchanged (RT-TEXT). For `content`, from the later version of the protocol:
 * its items, joined by a line feed in a text view, each image as a placeholder. An empty `content` counts as absent.
 * @example
 * llmText({ type: 'tool_result', group_id: 'thread', id: 'call', text: 'done' }); // done
 */
export function llmText({ text, content }: ToolResult): string {
  return !content?.length ? (text ?? '') : content.map(itemText).join('\n');
}

/** An item as text; an image becomes a placeholder. */
export function itemText(item: ContentItem): string {
  if (item.type === 'text') return item.text;
  return `[image: ${item.mediaType}, ${bytesText(Buffer.byteLength(item.data, 'base64'))}]`;
}
