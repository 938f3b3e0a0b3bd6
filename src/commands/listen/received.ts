import type { Event, ResponseEvent } from '../../events/events.js';
import type { Arrival, Exchange } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { View } from '../../events/threads.js';
import type { UntrackedRequest } from '../../events/untracked-requests.js';
import { arrivalOf } from '../../render/callbacks.js';
import type { JudgedWebhook, OpenListener } from '../../runtime/callback-server.js';

/** An answered callback of another program's call. */
export interface ArrivedCallback {
  readonly kind: 'callback';
  readonly at: number;
  readonly exchange: Exchange;
  readonly arrival: Arrival;
  /** The call was expected (`--expect`). */
  readonly isExpected: boolean;
  /** The current state of the view that it updated; null if it was cleared, and for other messages. */
  readonly view: View | null;
}

/** An answered request: a callback, a webhook, or a callback that belongs to no call. */
export type Received =
  | ArrivedCallback
  | { readonly kind: 'webhook'; readonly at: number; readonly webhook: JudgedWebhook }
  | { readonly kind: 'untracked'; readonly at: number; readonly request: UntrackedRequest };

/** Whether `--count` counts it. */
export function isCounted(received: Received): boolean {
  if (received.kind === 'webhook') return received.webhook.status === 200;
  return received.kind === 'callback' && received.arrival.verdict.kind === 'settles';
}

/** Returns the request that the listener answered with this event; null for other events. */
export function receivedIn(event: Event, history: History, listener: OpenListener): Received | null {
  if (event.kind !== 'response') return null;
  const webhook = listener.webhookOf(event);
  if (webhook) return { kind: 'webhook', at: webhook.at, webhook };
  return callbackIn(event, history, listener.expected);
}

function callbackIn(event: ResponseEvent, history: History, expected: ReadonlySet<string>): Received | null {
  const { exchange, arrival } = arrivalOf(history, event) ?? {};
  if (!exchange || !arrival) {
    const request = history.untracked.get(event.leg);
    return request?.purpose === 'callback' ? { kind: 'untracked', at: request.at, request } : null;
  }
  const { message, verdict, at } = arrival;
  const isOther = verdict.kind === 'discarded' || verdict.kind === 'rejected';
  const isExpected = expected.has(exchange.key) && !isOther;
  const isView = message?.type === 'view_update' && verdict.kind === 'noted';
  const view = isView && history.threads.get(message.group_id)?.views.get(message.view_type);
  return { kind: 'callback', at, exchange, arrival, isExpected, view: view || null };
}
