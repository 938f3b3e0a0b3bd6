import type { Exchange } from '../../exchange/exchange.js';
import { isOpen } from '../../exchange/exchange.js';
import { cancelToolCall, closeThread } from '../../runtime/notices.js';
import type { Wire } from '../../runtime/wire.js';

/** Where notices go; `base` is null where no discovery said so. */
export interface Farewell {
  readonly wire: Wire;
  readonly base: string | null;
  /** Closed at the end, since it is of our own making. */
  readonly isOurThread: boolean;
  /** False: the thread is left open all the same. */
  readonly closes: boolean;
  /** What may still come after a cancel is waited for, and told. */
  readonly listenOn: () => Promise<void>;
}

/**
 * The tool hears that nobody listens any more: a call that a person gave up, or a subscription, is cancelled, our own thread closed.
 * A call that took too long is not: a late result does no harm, but for one that opens a subscription.
 */
export async function takeLeave(
  exchange: Exchange,
  { wire, base, isOurThread, closes, listenOn }: Farewell,
): Promise<void> {
  const { key, invocation, settled, subscription } = exchange;
  if (base === null || settled?.by === 'denial') return;
  const { group_id: thread, id } = invocation;
  const isLeftOpen = isOpen(exchange) && !isOurThread; // closing the thread would end it too
  if (isLeftOpen) wire.log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] });
  if (isLeftOpen || settled?.by === 'cancel' || subscription?.ended?.by === 'cancel') {
    await cancelToolCall(wire, base, { key, thread, id });
    await listenOn();
  }
  if (isOurThread && closes) await closeThread(wire, base, thread);
}
