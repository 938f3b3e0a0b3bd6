import type { Callback, CallbackReading, CallbackType } from '../protocol/callbacks.js';
import { excerpt } from '../util/excerpt.js';
import { cut } from '../util/json-diagnosis.js';
import { isKnownAgain } from './bounded-events.js';
import type { Verdict } from './discovery-of.js';
import type { Exchange, SubscriptionEnd } from './exchange.js';
import { openQuestions } from './questions.js';

/** Characters of a reason, and what a person is asked at a time (threats, row 15). */
const MOST = { reason: 1_000, questions: 100 };

/**
 * Judges a callback that came to the callback URL of `exchange`. Pure: the listener asks it what to answer, the fold asks
 * it what happened, and both get the same (RT-VALIDATE, RT-MATCH, RT-DUP; threats, rows 7 and 8 and "Delivery faults").
 */
export function judge(exchange: Exchange, reading: CallbackReading, sha256: string): Verdict {
  if (!reading.ok) return rejection(reading.faults);
  const stranger = mismatch(exchange, reading.message);
  if (stranger) return { kind: 'discarded', status: 404, reason: stranger };
  return BY_TYPE[reading.message.type](exchange, sha256);
}

/** The verdict on an invalid callback (RT-VALIDATE). */
export function rejection(faults: readonly string[]): Verdict {
  return { kind: 'rejected', status: 400, reason: cut(faults.join('; '), MOST.reason) };
}

const BY_TYPE: Record<CallbackType, (exchange: Exchange, sha256: string) => Verdict> = {
  tool_result: judgeResult,
  oauth: judgeQuestion,
  user_choice: judgeQuestion,
  subscription_event: judgeEvent,
  view_update: () => ({ kind: 'noted', status: 200 }),
};

function judgeResult(exchange: Exchange, sha256: string): Verdict {
  const { settled } = exchange;
  if (settled === null) return { kind: 'settles', status: 200 };
  const known = hasCome(exchange, sha256);
  if (settled.by === 'result' || known) return { kind: 'duplicate', status: 200, identical: known };
  return { kind: 'late', status: 200 };
}

/** Of a question: it holds the call until it is answered. */
export function judgeQuestion(exchange: Exchange, sha256: string): Verdict {
  if (hasCome(exchange, sha256)) return { kind: 'duplicate', status: 200, identical: true };
  if (exchange.settled) return { kind: 'late', status: 200 };
  if (openQuestions(exchange).length < MOST.questions) return { kind: 'holds', status: 200 };
  return { kind: 'ignored', status: 200, reason: `${MOST.questions} questions are open already` };
}

/** Whether a result, or a question that was put, came before: in the same bytes. */
function hasCome({ arrivals, remembered }: Exchange, sha256: string): boolean {
  if (remembered.has(sha256)) return true;
  return arrivals.some(arrival => arrival.sha256 === sha256 && isKnownAgain(arrival));
}

const ENDED: Readonly<Record<SubscriptionEnd['by'], string>> = {
  final: 'the subscription has ended',
  cancel: 'the subscription was canceled',
  close: 'the thread of the subscription was closed',
};

function judgeEvent({ subscription }: Exchange, sha256: string): Verdict {
  if (subscription === null)
    return { kind: 'discarded', status: 404, reason: 'no subscription was opened by this call' };
  const { ended } = subscription;
  if (ended === null) return { kind: 'noted', status: 200 };
  // A final event whose 200 was lost comes again; an earlier one may well say the same twice.
  if (ended.by === 'final' && ended.sha256 === sha256)
    return { kind: 'duplicate', status: 200, identical: true };
  return { kind: 'discarded', status: 404, reason: ENDED[ended.by] };
}

function mismatch({ invocation }: Exchange, message: Callback): string | null {
  if (message.group_id !== invocation.group_id)
    return `group_id is ${excerpt(message.group_id)}, the call's is ${excerpt(invocation.group_id)}`;
  const named = idOf(message);
  if (named !== undefined && named !== invocation.id)
    return `id is ${excerpt(named)}, the call's is ${excerpt(invocation.id)}`;
  return null;
}

/** The call a message names; a view belongs to its thread alone. */
export function idOf(message: Callback): string | undefined {
  if (message.type === 'view_update') return undefined;
  return message.type === 'subscription_event' ? message.tool_call_id : message.id;
}
