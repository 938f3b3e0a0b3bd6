import * as z from 'zod/mini';
import { bytesText } from '../util/text.js';
import { isRecord } from '../util/values.js';
import type { ContentItem, ToolResult } from './callbacks.js';

/** How a tool call ended: one union for every system that hands an outcome back (seed 002, platforms "One model"). */
export const outcomeSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('success') }),
  z.object({
    type: z.literal('error'),
    message: z.string(),
    code: z.optional(z.string()),
    errorType: z.optional(z.string()),
    origin: z.optional(z.string()),
  }),
  z.object({ type: z.literal('canceled'), reason: z.optional(z.string()), by: z.optional(z.string()) }),
  z.object({ type: z.literal('timeout'), durationMs: z.optional(z.number()) }),
  z.object({ type: z.literal('denied'), tool: z.optional(z.string()), reason: z.optional(z.string()) }),
  z.object({ type: z.literal('unknown'), raw: z.unknown() }),
]);

export type Outcome = z.infer<typeof outcomeSchema>;

/**
 * Where an outcome is known from: the wire says it (`declared`), a text follows a convention, we made it ourselves
 * (a timeout, a refused acknowledgement), or nothing speaks against success (`assumed`).
 */
type Basis = 'declared' | 'convention' | 'ours' | 'assumed';

export type JudgedOutcome = Outcome & { readonly basis: Basis };

const ERROR_PREFIX = 'Error: ';

/** A payload by convention is short; a text longer than this is not looked into. */
const MAX_PAYLOAD = 64 * 1024;

const text = z.optional(z.string());

/** Seed 002's recommended payloads; a value is one of them only where it is exactly that and nothing more. */
const payloadSchema = z.union([
  z.strictObject({ error: z.strictObject({ message: z.string(), code: text, type: text }) }),
  z.strictObject({ canceled: z.strictObject({ reason: text, by: text }) }),
  z.strictObject({ timeout: z.strictObject({ durationMs: z.optional(z.number()) }) }),
  z.strictObject({ denied: z.strictObject({ tool: text, reason: text }) }),
]);

/** Reads the outcome out of what the LLM gets. RAP has no error type, so it is never more than a convention (TOOL-ERRPREFIX). */
export function outcomeOfText(result: string): JudgedOutcome {
  if (result.startsWith(ERROR_PREFIX))
    return { type: 'error', message: result.slice(ERROR_PREFIX.length), basis: 'convention' };
  const mayBePayload = result.length <= MAX_PAYLOAD && result.trimStart().startsWith('{');
  const outcome = mayBePayload ? outcomeOfPayload(parsedJson(result)) : null;
  return outcome ? { ...outcome, basis: 'convention' } : { type: 'success', basis: 'assumed' };
}

/** The text that carries an outcome of our own making to the LLM; null for a success, whose text is its own. */
export function textOfOutcome(outcome: Outcome): string | null {
  if (outcome.type === 'error') return ERROR_PREFIX + outcome.message;
  const payload = payloadOfOutcome(outcome);
  return payload && JSON.stringify(payload);
}

/** The outcome that a JSON value is the documented payload of (seed 002); null where it is any other value. Never throws. */
export function outcomeOfPayload(value: unknown): Outcome | null {
  const parsed = isRecord(value) ? payloadSchema.safeParse(value) : undefined;
  if (!parsed?.success) return null;
  const payload = parsed.data;
  if ('error' in payload) return errorOf(payload.error);
  if ('canceled' in payload) return { type: 'canceled', ...payload.canceled };
  if ('timeout' in payload) return { type: 'timeout', ...payload.timeout };
  return { type: 'denied', ...payload.denied };
}

/** The documented payload of an outcome (seed 002); null for a success, whose payload is its own, and for an unknown one. */
export function payloadOfOutcome(outcome: Outcome): Record<string, unknown> | null {
  switch (outcome.type) {
    case 'error':
      return { error: given({ message: outcome.message, code: outcome.code, type: outcome.errorType }) };
    case 'canceled':
      return { canceled: given({ reason: outcome.reason, by: outcome.by }) };
    case 'timeout':
      return { timeout: given({ durationMs: outcome.durationMs }) };
    case 'denied':
      return { denied: given({ tool: outcome.tool, reason: outcome.reason }) };
    default:
      return null;
  }
}

function given(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

// The payload's own `type` would hide the union's.
function errorOf({ type, ...error }: { message: string; code?: string; type?: string }): Outcome {
  return { type: 'error', ...error, ...(type === undefined ? {} : { errorType: type }) };
}

function parsedJson(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return undefined;
  }
}

/**
 * What the LLM gets: `text`, unchanged (RT-TEXT). A message with `content` follows the later text of the protocol:
 * its items, joined by a line feed in a text view, each image as a placeholder. An empty `content` counts as absent.
 */
export function llmText({ text, content }: ToolResult): string {
  return !content?.length ? (text ?? '') : content.map(itemText).join('\n');
}

/** An item in a text view: an image is a placeholder. */
export function itemText(item: ContentItem): string {
  if (item.type === 'text') return item.text;
  return `[image: ${item.mediaType}, ${bytesText(Buffer.byteLength(item.data, 'base64'))}]`;
}
