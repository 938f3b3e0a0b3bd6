import { isRecord } from '../text/is-record.js';
import type { Content } from './content.js';
import type { RequestEvent } from './events.js';

/** One POST of a callback. `status` or `broken` once it is known what became of it. Times in ms since the start. */
export interface DeliveryAttempt {
  readonly leg: string;
  readonly at: number;
  readonly endedAt?: number;
  readonly status?: number;
  readonly broken?: string;
}

/** One callback to the runtime, with its attempts; or what a client that is not called back was answered. */
export interface CallbackDelivery {
  /** Where its bytes do not say it. */
  readonly type?: string;
  readonly url: string;
  readonly body: Content | null;
  readonly attempts: readonly DeliveryAttempt[];
}

/** The first attempt begins a delivery; the others are of the last one with the same bytes: several may be on their way. */
export function withAttempt(
  deliveries: readonly CallbackDelivery[],
  event: RequestEvent,
): readonly CallbackDelivery[] {
  const { leg, at, url, body = null } = event;
  const index = event.attempt === 1 ? -1 : deliveries.findLastIndex(each => isSame(each.body, body));
  const known = deliveries[index];
  if (!known) return [...deliveries, { url, body, attempts: [{ leg, at }] }];
  return deliveries.with(index, { ...known, attempts: [...known.attempts, { leg, at }] });
}

export function isSame(one: Content | null, other: Content | null): boolean {
  return one === other || (one?.size === other?.size && one?.sha256 === other?.sha256);
}

export function isDelivered({ attempts }: CallbackDelivery): boolean {
  return attempts.some(({ status = 0 }) => status >= 200 && status < 300);
}

/** The `type` of a callback; null where its bytes are no message (a fault may want that). */
export function typeOfDelivery({ type, body }: CallbackDelivery): string | null {
  return type ?? typeOfMessage(body);
}

/** The `type` of a message; null where its bytes are none. */
export function typeOfMessage(body: Content | null): string | null {
  const value = body?.json.ok ? body.json.value : null;
  return isRecord(value) && typeof value['type'] === 'string' ? value['type'] : null;
}
