import * as z from 'zod/mini';
import type { ValidReading } from '../dialects/dialect.js';
import type { Translatable } from '../dialects/dialects.js';
import { IS_ERROR_LEFT_OUT, mcpDialect } from '../dialects/mcp.js';
import { rapDialect } from '../dialects/rap.js';
import type { UnaddressedInvocation } from '../protocol/invocation.js';
import { type JudgedOutcome, textOfOutcome } from '../protocol/outcome.js';
import type { JsonReading } from '../util/json.js';
import { excerpt, truncate } from '../util/text.js';
import { listOf, recordOf } from '../util/values.js';
import type { McpAnswer, Settlement } from './exchange.js';

/** A call that ended, live or in a saved report. */
interface Ended {
  readonly invocation?: UnaddressedInvocation | undefined;
  readonly settled:
    | { readonly by: 'result'; readonly native: unknown }
    | { readonly by: 'answer'; readonly reading: ValidReading | null }
    | { readonly by: Exclude<Settlement['by'], 'result' | 'answer'> }
    | null;
}

/**
 * The answer to a call in any protocol, with the ids that only its invocation has: the tool's result, or else an outcome of our own.
 * Null without either.
 */
export function answerOf({ invocation, settled }: Ended, outcome: JudgedOutcome | null): Translatable | null {
  const { id, group_id: thread, call_id, operation: tool, arguments: args } = invocation ?? {};
  const asked = invocation && { tool, args };
  if (settled?.by === 'result') {
    const reading = rapDialect.read(settled.native);
    if (!reading.ok) return null;
    const { answer } = reading;
    return { ...reading, answer: { ...answer, call: { ...answer.call, ...asked } } };
  }
  if (settled?.by === 'answer' && settled.reading) {
    const { answer } = settled.reading;
    return {
      ...settled.reading,
      answer: { ...answer, call: id === undefined ? answer.call : { id, ...asked } },
    };
  }
  if (id === undefined || !outcome) return null;
  const secondary = typeof call_id === 'string' && { secondaryId: call_id };
  return {
    answer: { call: { id, ...asked, ...(thread !== undefined && { thread }), ...secondary }, outcome },
  };
}

/** A result that asks for input after all available input was sent (protocol version 2026-07-28). */
const inputRequiredSchema = z.object({
  resultType: z.literal('input_required'),
  inputRequests: z.optional(z.record(z.string(), z.object({ method: z.string() }))),
});

/** A JSON-RPC error instead of a result. */
const errorSchema = z.object({
  error: z.object({ code: z.number(), message: z.string(), data: z.optional(z.unknown()) }),
});

const URL_ELICITATION_REQUIRED = -32_042;

const MAX_URLS = 5;

/** The pages that the user must visit before the call can succeed. */
function pagesNote(code: number, data: unknown): string[] {
  if (code !== URL_ELICITATION_REQUIRED) return [];
  const urls = listOf(recordOf(data)['elicitations']).map(each => recordOf(each)['url']);
  const shown = urls.filter(url => typeof url === 'string').slice(0, MAX_URLS);
  return shown.length === 0
    ? []
    : [`the user must open ${shown.map(url => truncate(url, 1_000)).join(', ')}, then call again`];
}

/** Reads the body of the response to `tools/call`. An invalid body is returned as an error outcome. */
export function readMcpAnswer(json: JsonReading): McpAnswer {
  const native = json.ok ? json.value : null;
  const withoutResult = (outcome: JudgedOutcome, ...notes: readonly string[]): McpAnswer => {
    return { native, reading: null, outcome, text: textOfOutcome(outcome) ?? '', notes };
  };
  const needed = inputRequiredSchema.safeParse(native);
  if (needed.success) {
    const methods = Object.values(needed.data.inputRequests ?? {}).map(({ method }) => excerpt(method));
    const asked = [...new Set(methods)].slice(0, 5).join(', ');
    const message = `the server asks ${asked === '' ? 'to be called again, too often' : `for ${asked}`}`;
    return withoutResult({ type: 'error', message, basis: 'ours' });
  }
  const refusal = errorSchema.safeParse(native);
  if (refusal.success) {
    const { code, message, data } = refusal.data.error;
    const note = `the server answered with the JSON-RPC error ${code}, and no result`;
    const outcome = { type: 'error', message, code: String(code), basis: 'declared' } as const;
    return withoutResult(data === undefined ? outcome : { ...outcome, data }, note, ...pagesNote(code, data));
  }
  const reading = json.ok ? mcpDialect.read(native) : { ok: false as const, faults: [json.reason] };
  if (!reading.ok) {
    const message = `the server's answer is not a CallToolResult: ${reading.faults.join('; ')}`;
    return withoutResult({ type: 'error', message, basis: 'ours' }, message);
  }
  const { answer, text } = reading;
  const notes = reading.notes.filter(note => note !== IS_ERROR_LEFT_OUT); // `basis` is `assumed` then
  return { native, reading, outcome: answer.outcome, text, notes };
}
