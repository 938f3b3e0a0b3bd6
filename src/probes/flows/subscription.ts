import { cancelToolCall } from '../../runtime/notices.js';
import { type Desk, patienceOf } from '../desk.js';
import { came, isSubscription, type Letter } from '../mailbox.js';
import { cameBy, pause } from '../patience.js';
import type { Conversing } from './flow.js';

/** Until the first event must have come: afterwards the subscription is cancelled all the same. */
const FIRST_EVENT_MS = 1_000;
/** A subscription is followed for so much of the window: others wait as long for what may not come. */
const FOLLOWED_FOR = 0.5;
/** How long nothing more may come after the end of a subscription, before others end their work. */
const QUIET_MS = 1_000;

/**
 * A subscription is cancelled after its first event, or after a while in which it is followed, unless it has ended; then nothing more
 * may come (TOOL-SUB). Where nobody asks for that, it is cancelled at once.
 */
export function leaveSubscription(desk: Desk, call: Conversing, letter: Letter): Promise<void> | undefined {
  return isSubscription(letter) ? leave(desk, call) : undefined;
}

async function leave(desk: Desk, call: Conversing): Promise<void> {
  const { wire, base, signal } = desk;
  const { key, id, thread, mailbox, isFollowed } = call;
  const isWatched = desk.wants('TOOL-SUB');
  if (isWatched || isFollowed) await seeEvents(desk, call);
  if (signal.aborted) return;
  if (!mailbox.letters.some(isFinal)) {
    wire.log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] });
    await cancelToolCall(wire, base, { key, thread, id }, patienceOf(desk));
  }
  if (isWatched) await seeNothing(desk, call);
}

async function seeEvents(desk: Desk, { mailbox, isFollowed }: Conversing): Promise<void> {
  const { windowMs } = desk;
  const firstMs = Math.min(FIRST_EVENT_MS, windowMs);
  const [ms, isEnough] = isFollowed
    ? [Math.max(firstMs, windowMs * FOLLOWED_FOR), (letters: readonly Letter[]) => letters.some(isFinal)]
    : [firstMs, came('subscription_event')];
  await cameBy(desk, ms, mailbox.until(isEnough));
}

/** One that comes may have been on its way: then it is seen whether another one does. */
async function seeNothing(desk: Desk, { key, mailbox }: Conversing): Promise<void> {
  const { wire, signal, windowMs } = desk;
  const quietMs = Math.min(QUIET_MS, windowMs);
  const before = mailbox.letters.length;
  await pause(desk, quietMs);
  const isQuiet = mailbox.letters.length === before;
  if (!isQuiet) await pause(desk, quietMs);
  const afterMs = isQuiet ? quietMs : 2 * quietMs;
  if (!signal.aborted) wire.log.emit({ kind: 'expired', what: 'observation', afterMs, calls: [key] });
}

function isFinal({ message }: Letter): boolean {
  return message?.type === 'subscription_event' && message.final === true;
}
