import { randomBytes, randomUUID } from 'node:crypto';
import type { Event } from '../../events/events.js';
import type { Log } from '../../events/log.js';
import type { DestinationCheck } from '../../http/addresses.js';
import type { Reply, Route } from '../../http/route.js';
import type { Clock } from '../../system/clock.js';
import { LIMITS } from '../../util/limits.js';
import type { ApiRequest } from './api-request.js';
import { pageOf } from './listing.js';
import { idIn } from './paths.js';
import { readBody, readQuery } from './read-request.js';
import { detail, Refused } from './request-errors.js';
import { webhookChanges, webhookFilters, webhookSchema } from './request-schemas.js';
import { PING, type Webhook, WebhookDeliveries, type WebhookEvent } from './webhook-deliveries.js';

const ANY_CHANGE = 'session.status_updated';

/** The events of a webhook. `*` means the first one; the others are sent only if a webhook names them. */
const EVENT_TYPES: Readonly<Record<string, string>> = {
  [ANY_CHANGE]: 'The status of a session changed.',
  'session.awaiting_tool_results': 'A session waits for results of tools.',
  'session.idle': 'A session answered, and waits for a message.',
  'session.completed': 'A session ended with success.',
  'session.failed': 'A session failed.',
  'session.timed_out': 'A session took too long.',
};

interface WebhookOptions {
  readonly log: Log;
  readonly clock: Clock;
  /** Why a URL is refused. */
  readonly destinationProblem: DestinationCheck;
  /** Receives each secret: those that sign, and parts of URLs that look like tokens. */
  readonly onSecret: (secret: string) => void;
}

interface WebhookRoute {
  readonly method: Route['method'];
  /** Below `/api/v2`. */
  readonly path: string;
  readonly accepts?: 'json';
  readonly respond: (request: ApiRequest) => Reply | Promise<Reply>;
}

/** The webhooks of a mock platform: its API, and deliveries of what happens to sessions (platforms). */
export class Webhooks {
  readonly #byId = new Map<string, Webhook>();
  /** The status of each session, by its id. */
  readonly #statuses = new Map<string, string>();
  readonly #deliveries: WebhookDeliveries;
  readonly routes: readonly WebhookRoute[] = [
    { method: 'POST', path: '/webhooks', accepts: 'json', respond: request => this.#create(request) },
    { method: 'GET', path: '/webhooks', respond: request => this.#list(request) },
    { method: 'GET', path: '/webhooks/events', respond: request => request.answer(200, eventTypes()) },
    this.#route('GET', '', (request, { record }) => request.answer(200, record)),
    this.#route('PATCH', '', (request, webhook) => this.#update(request, webhook), 'json'),
    this.#route('DELETE', '', (request, webhook) => this.#delete(request, webhook)),
    this.#route('POST', '/rotate', (request, webhook) => this.#rotate(request, webhook)),
    this.#route('POST', '/ping', (request, webhook) => this.#ping(request, webhook)),
  ];

  constructor(private readonly options: WebhookOptions) {
    this.#deliveries = new WebhookDeliveries(options.log, options.clock);
    options.log.subscribe(event => this.#onEvent(event));
  }

  close(): Promise<void> {
    return this.#deliveries.close();
  }

  #onEvent(event: Event): void {
    if (event.kind !== 'session' || event.thread === undefined) return;
    const { thread, status } = event;
    const previous_status = this.#statuses.get(thread) ?? 'pending';
    this.#statuses.set(thread, status);
    if (status === previous_status) return;
    const data = { session_id: thread, status, previous_status };
    for (const type of [ANY_CHANGE, `session.${status}`])
      if (Object.hasOwn(EVENT_TYPES, type)) this.#publish(this.#eventOf(type, data), thread);
  }

  #publish(event: WebhookEvent, thread: string): void {
    const names = event.type === ANY_CHANGE ? [ANY_CHANGE, '*'] : [event.type];
    for (const webhook of this.#byId.values()) {
      const { disabled, enabled_events: enabled } = webhook.record;
      if (!disabled && names.some(name => enabled.includes(name)))
        void this.#deliveries.send(webhook, event, thread);
    }
  }

  #eventOf(type: string, data: WebhookEvent['data']): WebhookEvent {
    return { type, id: randomUUID(), created_at: this.#now(), data };
  }

  /** A route below one webhook: 404 without such a webhook. */
  #route(
    method: Route['method'],
    path: string,
    respond: (request: ApiRequest, webhook: Webhook) => Reply | Promise<Reply>,
    accepts?: 'json',
  ): WebhookRoute {
    const find = (request: ApiRequest) => {
      const webhook = this.#byId.get(idIn(request.incoming.path, 'webhooks') ?? '');
      return webhook ? respond(request, webhook) : request.refuse(404, 'Webhook not found.');
    };
    return { method, path: `/webhooks/{id}${path}`, respond: find, ...(accepts && { accepts }) };
  }

  #create(request: ApiRequest): Reply {
    const { url, enabled_events, description = null } = readBody(request.body, webhookSchema);
    this.#checkUrl(url);
    if (this.#byId.size >= LIMITS.webhooks.value)
      return request.refuseOverCapacity('There are too many webhooks; delete one.');
    const created_at = this.#now();
    const record = {
      id: randomUUID(),
      url,
      enabled_events,
      description,
      disabled: false,
      last_delivery_status: null,
      last_delivery_error: null,
      last_delivery_at: null,
      last_success_at: null,
      consecutive_failures: 0,
      created_at,
      updated_at: created_at,
    };
    const webhook = { record, secret: this.#newSecret(), latest: Promise.resolve() };
    this.#byId.set(record.id, webhook);
    this.#warnOfUnknown(enabled_events);
    return request.answer(201, withSecret(webhook));
  }

  #list(request: ApiRequest): Reply {
    const { sort } = readQuery(request.incoming, webhookFilters, ['sort']);
    const all = Array.from(this.#byId.values(), ({ record }) => record);
    const sorted = sort?.at(-1) === 'created_at' ? all : all.reverse();
    return request.answer(200, pageOf(sorted, request, { size: 10, max: 1_000 }));
  }

  /** Members that are absent or null stay, except that the description may become null. */
  #update(request: ApiRequest, { record }: Webhook): Reply {
    const { url, enabled_events, description, disabled } = readBody(request.body, webhookChanges);
    if (url) this.#checkUrl(url);
    if (record.disabled && disabled === false) record.consecutive_failures = 0;
    record.url = url ?? record.url;
    record.enabled_events = enabled_events ?? record.enabled_events;
    record.disabled = disabled ?? record.disabled;
    if (description !== undefined) record.description = description;
    record.updated_at = this.#now();
    this.#warnOfUnknown(record.enabled_events);
    return request.answer(200, record);
  }

  #delete(request: ApiRequest, { record }: Webhook): Reply {
    record.disabled = true; // for what waits
    this.#byId.delete(record.id);
    return request.answer(204);
  }

  #rotate(request: ApiRequest, webhook: Webhook): Reply {
    webhook.secret = this.#newSecret();
    webhook.record.updated_at = this.#now();
    return request.answer(200, withSecret(webhook));
  }

  /** The document has no answer for an endpoint that does not answer; ours is 422. */
  async #ping(request: ApiRequest, webhook: Webhook): Promise<Reply> {
    request.record(); // before the delivery
    const delivered = await this.#deliveries.send(webhook, this.#eventOf(PING, {}));
    if ('status' in delivered) return request.answer(200, { response_status: delivered.status });
    const message = `The endpoint did not answer: ${delivered.error}`;
    return request.refuse(422, [detail('webhook_unreachable', ['path', 'webhook_id'], message)]);
  }

  /** @throws Refused */
  #checkUrl(url: string): void {
    const problem = this.options.destinationProblem(url);
    if (problem !== null) throw new Refused(422, [detail('value_error', ['body', 'url'], problem, url)]);
    for (const token of url.match(/[\w-]{16,}/g) ?? []) this.options.onSecret(token);
  }

  #newSecret(): string {
    const secret = `whsec_${randomBytes(32).toString('base64url')}`;
    this.options.onSecret(secret);
    return secret;
  }

  #warnOfUnknown(types: readonly string[]): void {
    const unknown = types.find(type => type !== '*' && !Object.hasOwn(EVENT_TYPES, type));
    if (unknown === undefined) return;
    const message = `a webhook asks for events that this mock does not send: ${unknown}`;
    this.options.log.emit({ kind: 'warned', message });
  }

  #now(): string {
    return this.options.clock.wall().toISOString();
  }
}

/** Only creation and rotation show the secret. */
function withSecret({ record, secret }: Webhook): object {
  return { ...record, secret };
}

function eventTypes(): readonly object[] {
  return Object.entries(EVENT_TYPES).map(([type, description]) => ({ type, description }));
}
