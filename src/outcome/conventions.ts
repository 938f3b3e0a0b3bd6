import * as z from 'zod/mini';
import { isRecord } from '../text/is-record.js';
import type { JudgedOutcome, Outcome } from './outcome.js';

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
