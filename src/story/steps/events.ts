import type { Arrival } from '../../exchange/exchange.js';
import type { SubscriptionEvent } from '../../protocol/callbacks/index.js';
import type { Line } from '../line.js';
import { say } from '../spans.js';

/** The event of a subscription that a callback is, where it counts. */
export function eventOf({ verdict, message }: Arrival): SubscriptionEvent | null {
  return verdict.kind === 'noted' && message?.type === 'subscription_event' ? message : null;
}

/** Which event it is, and which conversation a runtime puts it into. */
export function eventLine({ associative, final }: SubscriptionEvent, number: number): Line {
  const place = associative ? 'this thread (associative)' : 'child thread';
  return [say(`${final ? 'last event' : 'event'} ${number} → ${place}: `)];
}
