import type { Callback, CallbackType } from '../protocol/callbacks/index.js';
import type { CallbackReading } from '../protocol/callbacks/read.js';
import type { Exchange } from './exchange.js';
import type { Verdict } from './verdict.js';

/**
 * Judges a callback that came to the callback URL of `exchange`. Pure: the listener asks it what to answer, the fold asks
 * it what happened, and both get the same (RT-VALIDATE, RT-MATCH, RT-DUP; threats, rows 7 and 8 and "Delivery faults").
 */
export function judge(exchange: Exchange, reading: CallbackReading, sha256: string): Verdict {
  if (!reading.ok) return { kind: 'rejected', status: 400, reason: reading.faults.join('; ') };
  const stranger = mismatch(exchange, reading.message);
  if (stranger) return { kind: 'discarded', status: 404, reason: stranger };
  return BY_TYPE[reading.message.type](exchange, sha256);
}

const BY_TYPE: Record<CallbackType, (exchange: Exchange, sha256: string) => Verdict> = {
  tool_result: judgeResult,
  oauth: judgeQuestion,
  user_choice: judgeQuestion,
  subscription_event: judgeEvent,
  view_update: () => ({ kind: 'noted', status: 200 }),
};

function judgeResult({ settled, arrivals }: Exchange, sha256: string): Verdict {
  if (settled === null) return { kind: 'settles', status: 200 };
  const known = arrivals.some(
    arrival => arrival.sha256 === sha256 && arrival.message?.type === 'tool_result',
  );
  if (settled.by === 'result' || known) return { kind: 'duplicate', status: 200, identical: known };
  return { kind: 'late', status: 200 };
}

function judgeQuestion({ settled, arrivals }: Exchange, sha256: string): Verdict {
  if (settled !== null) return { kind: 'late', status: 200 };
  const known = arrivals.some(arrival => arrival.sha256 === sha256 && arrival.verdict.kind === 'holds');
  return known ? { kind: 'duplicate', status: 200, identical: true } : { kind: 'holds', status: 200 };
}

function judgeEvent({ settled, arrivals }: Exchange, sha256: string): Verdict {
  const subscribed = settled?.by === 'result' && settled.result.subscription === true;
  if (!subscribed)
    return { kind: 'discarded', status: 404, reason: 'no subscription was opened by this call' };
  const ended = arrivals.find(
    ({ message, verdict }) =>
      message?.type === 'subscription_event' && message.final === true && verdict.kind === 'noted',
  );
  // A final event whose 200 was lost comes again; an earlier one may well say the same twice.
  if (ended?.sha256 === sha256) return { kind: 'duplicate', status: 200, identical: true };
  if (ended) return { kind: 'discarded', status: 404, reason: 'the subscription has ended' };
  return { kind: 'noted', status: 200 };
}

function mismatch({ invocation }: Exchange, message: Callback): string | null {
  if (message.group_id !== invocation.group_id)
    return `group_id is ${JSON.stringify(message.group_id)}, the call's is ${JSON.stringify(invocation.group_id)}`;
  const named = idOf(message);
  if (named !== undefined && named !== invocation.id)
    return `id is ${JSON.stringify(named)}, the call's is ${JSON.stringify(invocation.id)}`;
  return null;
}

/** The call a message names; a view belongs to its thread alone. */
function idOf(message: Callback): string | undefined {
  if (message.type === 'view_update') return undefined;
  return message.type === 'subscription_event' ? message.tool_call_id : message.id;
}
