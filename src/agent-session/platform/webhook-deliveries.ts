import { Content } from '../../events/content.js';
import { type Log, RecordedRequest } from '../../events/log.js';
import { createNodeClient } from '../../http/node-client.js';
import { TransportError } from '../../http/transport-error.js';
import { isSuccess } from '../../protocol/http-status.js';
import { PLATFORM_HEADERS, platformSignature } from '../../protocol/webhook-signature.js';
import type { Clock } from '../../system/clock.js';
import { exactJson } from '../../util/exact-json.js';
import { redactHeaders } from '../../util/headers.js';
import { LIMITS } from '../../util/limits.js';

/** A webhook as the API shows it. */
export interface WebhookRecord {
  readonly id: string;
  url: string;
  enabled_events: readonly string[];
  description: string | null;
  disabled: boolean;
  last_delivery_status: 'succeeded' | 'failed' | null;
  last_delivery_error: string | null;
  last_delivery_at: string | null;
  last_success_at: string | null;
  consecutive_failures: number;
  readonly created_at: string;
  updated_at: string;
}

/** A webhook with its secret, which signs its deliveries. */
export interface Webhook {
  readonly record: WebhookRecord;
  secret: string;
  /** Resolves once its deliveries so far have ended: they are sent one after the other. */
  latest: Promise<unknown>;
}

/** The event that a client asks for, also while a webhook is disabled. */
export const PING = 'ping';

/** What happened, as receivers get it. */
export interface WebhookEvent {
  readonly type: string;
  readonly id: string;
  readonly created_at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The answer of a receiver, or why there is none. */
export type Delivered = { readonly status: number } | { readonly error: string };

/** Sends signed events to receivers, each at most once, with a client that connects to no link-local and metadata address. */
export class WebhookDeliveries {
  readonly #client;
  #pending = 0;
  #isOverflowing = false;
  #isClosed = false;

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
  ) {
    this.#client = createNodeClient({ clock });
  }

  /** Sends an event after the earlier ones of this webhook; never rejects. Very many that wait are dropped. @param thread the session */
  send(webhook: Webhook, event: WebhookEvent, thread?: string): Promise<Delivered> {
    if (this.#pending >= LIMITS.webhookDeliveries.value) return Promise.resolve(this.#drop());
    this.#pending++;
    const sending = webhook.latest.then(() => this.#send(webhook, event, thread));
    webhook.latest = sending.finally(() => {
      this.#pending--;
      this.#isOverflowing &&= this.#pending > 0;
    });
    return sending;
  }

  /** Ends what is being sent; sends nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#client.close();
  }

  #drop(): Delivered {
    const error = 'too many deliveries wait';
    if (!this.#isOverflowing) this.log.emit({ kind: 'dropped', what: 'event', why: error, count: 1 });
    this.#isOverflowing = true;
    return { error };
  }

  async #send(webhook: Webhook, event: WebhookEvent, thread?: string): Promise<Delivered> {
    if (this.#isClosed) return { error: 'the platform was stopped' };
    if (webhook.record.disabled && event.type !== PING) return { error: 'the webhook is disabled' };
    const delivered = await this.#post(webhook, event, thread);
    if (!this.#isClosed) this.#note(webhook.record, delivered);
    return delivered;
  }

  /** The signature covers the time of sending, not of the event. */
  async #post(
    { record: { url }, secret }: Webhook,
    event: WebhookEvent,
    thread?: string,
  ): Promise<Delivered> {
    const body = Buffer.from(exactJson(event));
    const timestamp = String(Math.floor(this.clock.wall().getTime() / 1_000));
    const headers = {
      'content-type': 'application/json',
      [PLATFORM_HEADERS.timestamp]: timestamp,
      [PLATFORM_HEADERS.signature]: platformSignature(secret, timestamp, body),
    };
    const about = { from: 'platform', to: 'client', dialect: 'session', purpose: 'webhook', thread } as const;
    const logged = {
      ...about,
      method: 'POST',
      url,
      headers: redactHeaders(headers),
      body: new Content(body),
    };
    const timeoutMs = LIMITS.webhookMs.value;
    const read = { maxBytes: LIMITS.excerptBytes.value, partial: true };
    const sending = this.#client.send({ method: 'POST', url, headers, body, read, timeoutMs });
    try {
      return await new RecordedRequest(this.log, logged).recordSending(sending, redactHeaders);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      return { error: error.message };
    }
  }

  /** Keeps the result in the webhook; disables one whose deliveries failed very often in a row. */
  #note(record: WebhookRecord, delivered: Delivered): void {
    const now = this.clock.wall().toISOString();
    const error = errorIn(delivered);
    record.last_delivery_at = now;
    record.last_delivery_status = error === null ? 'succeeded' : 'failed';
    record.last_delivery_error = error;
    record.consecutive_failures = error === null ? 0 : record.consecutive_failures + 1;
    if (error === null) record.last_success_at = now;
    if (record.disabled || record.consecutive_failures < LIMITS.webhookFailures.value) return;
    record.disabled = true;
    const message = `the webhook ${record.id} was disabled: ${record.consecutive_failures} deliveries in a row failed`;
    this.log.emit({ kind: 'warned', message });
  }
}

function errorIn(delivered: Delivered): string | null {
  if ('error' in delivered) return delivered.error;
  return isSuccess(delivered.status) ? null : `the endpoint answered ${delivered.status}`;
}
