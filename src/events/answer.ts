import type { Answer, AnsweredCall, SoundReading } from '../dialects/dialect.js';
import { readAs, type Translatable } from '../dialects/dialects.js';
import type { Invocation } from '../protocol/invocation.js';
import type { JudgedOutcome } from '../protocol/outcome.js';
import { type Exchange, outcomeOf } from './exchange.js';

/** What answered the call, for any wire: the tool's result, or an outcome of our own making; null while it is pending. */
export function answerOf(exchange: Exchange): Translatable | null {
  const { settled, invocation } = exchange;
  if (settled?.by === 'result') return answerOfResult(invocation, settled.native);
  if (settled?.by === 'answer' && settled.reading) return answerOfMcp(invocation, settled.reading);
  const outcome = outcomeOf(exchange);
  return outcome && { answer: answerOfOurs(invocation, outcome) };
}

/** A tool's result, with what only the invocation says of the call. @param native the tool_result, as it came */
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

/** What a call over MCP gave: its wire says nothing of the call. */
export function answerOfMcp(
  invocation: Pick<Invocation, 'id' | 'operation' | 'arguments'> | undefined,
  reading: SoundReading,
): Translatable {
  if (!invocation) return reading;
  const { id, operation: tool, arguments: args } = invocation;
  return { ...reading, answer: { ...reading.answer, call: { id, tool, args } } };
}

/** An outcome that is not of the tool's making. */
export function answerOfOurs(invocation: Omit<Invocation, 'callback_url'>, outcome: JudgedOutcome): Answer {
  const { id, group_id: thread, call_id, operation: tool, arguments: args } = invocation;
  const secondary: Pick<AnsweredCall, 'secondaryId'> =
    typeof call_id === 'string' ? { secondaryId: call_id } : {};
  return { call: { id, tool, args, thread, ...secondary }, outcome };
}
