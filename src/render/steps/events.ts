import type { Arrival } from '../../events/exchange.js';
import type { SubscriptionEvent } from '../../protocol/callbacks.js';

/** The event of a subscription that a callback is, where it counts. */
export function eventOf({ verdict, message }: Arrival): SubscriptionEvent | null {
  return verdict.kind === 'noted' && message?.type === 'subscription_event' ? message : null;
}

/** Which event it is, and which conversation a runtime puts it into. */
export function eventWords({ associative, final }: SubscriptionEvent, number: number): string {
  const place = associative ? 'this thread (associative)' : 'child thread';
  return `${final ? 'last event' : 'event'} ${number} → ${place}`;
}
