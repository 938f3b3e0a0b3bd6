import type { Answer } from '../../../../dialects/dialect.js';
import { readAs } from '../../../../dialects/index.js';
import { outcomeOf } from '../../../../exchange/ending.js';
import type { Exchange } from '../../../../exchange/exchange.js';
import { answeredCall, clientError } from '../../../../session/answering/answerer.js';
import type { PendingCall } from '../../../../session/answering/pending-calls.js';
import { failureOf } from '../../../../story/failure.js';
import { parseJson } from '../../../../text/json.js';

/**
 * What a tool made of a call, for the session that asked: its text is the result, as the string it is, and an outcome other than
 * success is an error (platforms).
 */
export function answerOfExchange(call: PendingCall, exchange: Exchange): Answer {
  const { settled } = exchange;
  const outcome = outcomeOf(exchange);
  if (!settled || !outcome)
    return clientError(call, failureOf(exchange)?.message ?? 'the tool did not answer');
  if (settled.by !== 'result')
    return outcome.type === 'error'
      ? clientError(call, outcome.message)
      : { call: answeredCall(call), outcome };
  const reading = readAs('rap', settled.native);
  return { ...(reading.ok ? reading.answer : { outcome }), call: answeredCall(call) };
}

/**
 * A result whose text is JSON, as that JSON; one that would not survive it (a number too large to hold, a key twice) stays the text
 * it is, with notes.
 */
export function withParsedText(answer: Answer): {
  readonly answer: Answer;
  readonly notes: readonly string[];
} {
  const { outcome, payload } = answer;
  const reading = outcome.type === 'success' && typeof payload === 'string' ? parseJson(payload) : null;
  if (!reading?.ok) return { answer, notes: [] };
  const { notes, value } = reading;
  return { answer: notes.length > 0 ? answer : { ...answer, payload: value }, notes };
}
