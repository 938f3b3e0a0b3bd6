import * as z from 'zod/mini';
import type { Answer, AnsweredCall, SoundReading } from '../dialects/dialect.js';
import { readAs, type Translatable } from '../dialects/dialects.js';
import { IS_ERROR_LEFT_OUT } from '../dialects/mcp.js';
import type { Invocation } from '../protocol/invocation.js';
import { type JudgedOutcome, textOfOutcome } from '../protocol/outcome.js';
import type { JsonReading } from '../util/json.js';
import { excerpt } from '../util/text.js';
import { type Exchange, type McpAnswer, outcomeOf } from './exchange.js';

/** The answer to a call in any protocol: the tool's result, or an outcome of our own; null while the call is pending. */
export function answerOf(exchange: Exchange): Translatable | null {
  const { settled, invocation } = exchange;
  if (settled?.by === 'result') return answerOfResult(invocation, settled.native);
  if (settled?.by === 'answer' && settled.reading) return answerOfMcp(invocation, settled.reading);
  const outcome = outcomeOf(exchange);
  return outcome && { answer: answerOfOurs(invocation, outcome) };
}

/** A tool's result, with the ids that only the invocation has. @param native the tool_result as received */
export function answerOfResult(
  invocation: Pick<Invocation, 'operation' | 'arguments'> | undefined,
  native: unknown,
): Translatable | null {
  const reading = readAs('rap', native);
  if (!reading.ok) return null;
  const { answer } = reading;
  const asked = invocation && { tool: invocation.operation, args: invocation.arguments };
  return { ...reading, answer: { ...answer, call: { ...answer.call, ...asked } } };
}

/** The result of a call over MCP, which does not name its call. */
export function answerOfMcp(
  invocation: Pick<Invocation, 'id' | 'operation' | 'arguments'> | undefined,
  reading: SoundReading,
): Translatable {
  if (!invocation) return reading;
  const { id, operation: tool, arguments: args } = invocation;
  return { ...reading, answer: { ...reading.answer, call: { id, tool, args } } };
}

export function answerOfOurs(invocation: Omit<Invocation, 'callback_url'>, outcome: JudgedOutcome): Answer {
  const { id, group_id: thread, call_id, operation: tool, arguments: args } = invocation;
  const secondary: Pick<AnsweredCall, 'secondaryId'> =
    typeof call_id === 'string' ? { secondaryId: call_id } : {};
  return { call: { id, tool, args, thread, ...secondary }, outcome };
}

/** A result that asks for input after all available input was sent (protocol version 2026-07-28). */
const inputRequiredSchema = z.object({
  resultType: z.literal('input_required'),
  inputRequests: z.optional(z.record(z.string(), z.object({ method: z.string() }))),
});

/** A JSON-RPC error instead of a result. */
const errorSchema = z.object({ error: z.object({ code: z.number(), message: z.string() }) });

/** Reads the body of the response to `tools/call`. An invalid body is returned as an error outcome. */
export function readMcpAnswer(json: JsonReading): McpAnswer {
  const native = json.ok ? json.value : null;
  const refusal = errorSchema.safeParse(native);
  const needed = inputRequiredSchema.safeParse(native);
  if (needed.success) return ofOurs(native, missingInput(needed.data), []);
  if (refusal.success) return refused(native, refusal.data.error);
  const reading = json.ok ? readAs('mcp', native) : { ok: false as const, faults: [json.reason] };
  if (!reading.ok) return unreadable(native, reading.faults);
  const { answer, text } = reading;
  const notes = reading.notes.filter(note => note !== IS_ERROR_LEFT_OUT); // `basis` is `assumed` then
  return { native, reading, outcome: answer.outcome, text, notes };
}

function missingInput({ inputRequests = {} }: z.infer<typeof inputRequiredSchema>): JudgedOutcome {
  const methods = [...new Set(Object.values(inputRequests).map(({ method }) => excerpt(method)))].slice(0, 5);
  const asked = methods.length === 0 ? 'to be called again, too often' : `for ${methods.join(', ')}`;
  return { type: 'error', message: `the server asks ${asked}`, basis: 'ours' };
}

function refused(native: unknown, { code, message }: { readonly code: number; readonly message: string }) {
  return ofOurs(native, { type: 'error', message, code: String(code), basis: 'declared' }, [
    `the server answered with the JSON-RPC error ${code}, and no result`,
  ]);
}

function unreadable(native: unknown, faults: readonly string[]): McpAnswer {
  const message = `the server's answer is not a CallToolResult: ${faults.join('; ')}`;
  return ofOurs(native, { type: 'error', message, basis: 'ours' }, [message]);
}

function ofOurs(native: unknown, outcome: JudgedOutcome, notes: readonly string[]): McpAnswer {
  return { native, reading: null, outcome, text: textOfOutcome(outcome) ?? '', notes };
}
