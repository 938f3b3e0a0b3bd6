import type { CallbackEvidence, CallEvidence } from './evidence.js';
import { endedAt } from './leg.js';
import { sayingOf } from './messages.js';

/** One message, and each time it was sent. */
export type Delivery = readonly [CallbackEvidence, ...CallbackEvidence[]];

/** What came to a call's URL, each message with the times it came again. One without a body is one by itself. */
export function deliveriesOf({ callbacks }: CallEvidence): readonly Delivery[] {
  const deliveries = new Map<unknown, [CallbackEvidence, ...CallbackEvidence[]]>();
  for (const callback of callbacks) {
    const saying = sayingOf(callback) ?? callback;
    const known = deliveries.get(saying);
    if (known) known.push(callback);
    else deliveries.set(saying, [callback]);
  }
  return [...deliveries.values()];
}

/** Milliseconds from the end of each try to the begin of the next one. */
export function pausesIn(delivery: Delivery): readonly number[] {
  return delivery.slice(1).map((next, index) => {
    const before = delivery[index];
    return Math.max(0, next.request.at - ((before && endedAt(before)) ?? next.request.at));
  });
}
