import {
  CALLBACK_TRAITS,
  type Callback,
  type CallbackReading,
  type CallbackType,
} from '../protocol/callbacks.js';
import { LIMITS } from '../util/limits.js';
import { excerpt, truncateBeforeToken } from '../util/text.js';
import {
  type Arrival,
  type Exchange,
  openQuestions,
  type SubscriptionEnd,
  type Verdict,
} from './exchange.js';

/** Maximum length of a reason in characters. */
const MAX_REASON = 1_000;

/** Judges a callback to the callback URL of `exchange` (RT-VALIDATE, RT-MATCH, RT-DUP; threats, rows 7 and 8 and "Delivery faults"). */
export function judgeCallback(exchange: Exchange, reading: CallbackReading, sha256: string): Verdict {
  if (!reading.ok) return rejection(reading.faults);
  const reason = mismatch(exchange, reading.message);
  if (reason !== null) return { kind: 'discarded', status: 404, reason };
  return JUDGES[reading.message.type](exchange, sha256);
}

/** The verdict on an invalid callback (RT-VALIDATE). */
export function rejection(faults: readonly string[]): Extract<Verdict, { kind: 'rejected' }> {
  return { kind: 'rejected', status: 400, reason: truncateBeforeToken(faults.join('; '), MAX_REASON) };
}

const JUDGES = {
  tool_result: judgeResult,
  oauth: judgeQuestion,
  user_choice: judgeQuestion,
  subscription_event: judgeEvent,
  view_update: () => ({ kind: 'noted', status: 200 }),
} satisfies Record<CallbackType, (exchange: Exchange, sha256: string) => Verdict>;

function judgeResult(exchange: Exchange, sha256: string): Verdict {
  const { settled } = exchange;
  if (settled === null) return { kind: 'settles', status: 200 };
  const identical = wasReceived(exchange, sha256);
  if (settled.by === 'result' || identical) return { kind: 'duplicate', status: 200, identical };
  return { kind: 'late', status: 200 };
}

export function judgeQuestion(exchange: Exchange, sha256: string): Verdict {
  if (wasReceived(exchange, sha256)) return { kind: 'duplicate', status: 200, identical: true };
  if (exchange.settled) return { kind: 'late', status: 200 };
  if (openQuestions(exchange).length < LIMITS.openQuestions.value) return { kind: 'holds', status: 200 };
  return { kind: 'ignored', status: 200, reason: `${LIMITS.openQuestions.value} questions are open already` };
}

const ENDED: Readonly<Record<Exclude<SubscriptionEnd['by'], 'cancel'>, string>> = {
  final: 'the subscription has ended',
  close: 'the thread of the subscription was closed',
};

function judgeEvent({ subscription }: Exchange, sha256: string): Verdict {
  if (subscription === null)
    return { kind: 'discarded', status: 404, reason: 'no subscription was opened by this call' };
  const { ended } = subscription;
  if (ended === null) return { kind: 'noted', status: 200 };
  // A final event whose 200 was lost is sent again; an earlier event may have the same text twice.
  if (ended.by === 'final' && ended.sha256 === sha256)
    return { kind: 'duplicate', status: 200, identical: true };
  if (ended.by === 'cancel') return { kind: 'late', status: 200 };
  return { kind: 'discarded', status: 404, reason: ENDED[ended.by] };
}

function mismatch({ invocation }: Exchange, message: Callback): string | null {
  if (message.group_id !== invocation.group_id)
    return `group_id is ${excerpt(message.group_id)}, the call's is ${excerpt(invocation.group_id)}`;
  const id = idOf(message);
  if (id !== undefined && id !== invocation.id)
    return `id is ${excerpt(id)}, the call's is ${excerpt(invocation.id)}`;
  return null;
}

/** The id of the call that a message names; a view names only its thread. */
export function idOf(message: Callback): string | undefined {
  const { idField } = CALLBACK_TRAITS[message.type];
  const ids: { readonly group_id: string; readonly id?: string; readonly tool_call_id?: string } = message;
  return idField === null ? undefined : ids[idField];
}

/** Whether a result or a question was received before, in the same bytes. */
function wasReceived({ arrivals, remembered }: Exchange, sha256: string): boolean {
  if (remembered.has(sha256)) return true;
  return arrivals.some(arrival => arrival.sha256 === sha256 && mayRepeat(arrival));
}

/** A tool sends a result or a question again if its 200 was lost. */
export function mayRepeat({ message, verdict }: Arrival): boolean {
  return message?.type === 'tool_result' || verdict.kind === 'holds';
}
