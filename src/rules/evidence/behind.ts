import { ACK_TOLERANCE_MS } from '../../exchange/exchange.js';
import type { CallbackEvidence, CallEvidence } from './evidence.js';
import { endedAt, type Leg } from './leg.js';
import { firstToldAfter } from './messages.js';

/** The result that came of an attempt: what came before it was sent is of an attempt before it. */
export function resultAfter(attempt: Leg, call: CallEvidence): CallbackEvidence | undefined {
  const after = firstToldAfter(attempt.request.seq, call, ({ type }) => type === 'tool_result');
  return after?.callback;
}

/** Whether an attempt was answered only once its result had come. */
export function isBehind(attempt: Leg, result: CallbackEvidence): boolean {
  return (endedAt(attempt) ?? 0) - result.request.at > ACK_TOLERANCE_MS;
}
