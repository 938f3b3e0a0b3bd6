import { cancelToolCall } from '../../runtime/notices.js';
import { type Desk, patienceOf } from '../desk.js';
import { came, type Letter } from '../mailbox.js';
import { cameBy, pause } from '../patience.js';
import type { Conversing } from './flow.js';

/** Until the first event must have come: afterwards the subscription is cancelled all the same. */
const FIRST_EVENT_MS = 1_000;
/** How long nothing more may come after the end of a subscription, before others end their work. */
const QUIET_MS = 1_000;

/** A subscription is cancelled after its first event, unless that is its last; then nothing more may come (TOOL-SUB). */
export function leaveSubscription(
  desk: Desk,
  call: Conversing,
  { message }: Letter,
): Promise<void> | undefined {
  return message?.type === 'tool_result' && message.subscription === true ? leave(desk, call) : undefined;
}

async function leave(desk: Desk, { key, id, thread, mailbox }: Conversing): Promise<void> {
  const { wire, base, windowMs, signal } = desk;
  await cameBy(desk, Math.min(FIRST_EVENT_MS, windowMs), mailbox.until(came('subscription_event')));
  if (signal.aborted) return;
  if (!mailbox.letters.some(isFinal)) {
    wire.log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] });
    await cancelToolCall(wire, base, { key, thread, id }, patienceOf(desk));
  }
  const afterMs = Math.min(QUIET_MS, windowMs);
  await pause(desk, afterMs);
  if (!signal.aborted) wire.log.emit({ kind: 'expired', what: 'observation', afterMs, calls: [key] });
}

function isFinal({ message }: Letter): boolean {
  return message?.type === 'subscription_event' && message.final === true;
}
