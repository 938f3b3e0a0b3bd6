import { Content } from '../../../src/events/content.js';
import type { Event } from '../../../src/events/events.js';
import { createLog, type Log } from '../../../src/events/log.js';
import { allowedDestinations } from '../../../src/http/addresses.js';
import { createPooledClient } from '../../../src/http/pooled-client.js';
import { Outbox } from '../../../src/mock/outbox.js';
import { type FakeClock, fakeClock } from '../../support/fake-clock.js';

export interface OutboxSetup extends AsyncDisposable {
  readonly outbox: Outbox;
  /** Posts a callback, and says what became of it. */
  post(callback: Callback): Promise<object & { readonly delivered: boolean }>;
  readonly log: Log;
  readonly clock: FakeClock;
  readonly events: Event[];
  /** The events in order, in one or two words each: `request 1`, `response 200`, `broken ECONNRESET`, `dropped`. */
  summary(): string[];
}

type Callback = Parameters<Outbox['post']>[0];

/** An outbox on a real client; pauses are of no length unless `random` says otherwise. */
export function openOutbox(options: Partial<ConstructorParameters<typeof Outbox>[0]> = {}): OutboxSetup {
  const clock = fakeClock();
  const log = options.log ?? createLog(() => clock.now());
  const client = options.client ?? createPooledClient();
  const events: Event[] = [];
  log.subscribe(event => events.push(event));
  const outbox = new Outbox({
    clock,
    random: () => 0,
    destinationProblem: allowedDestinations([]),
    queueLimit: 100,
    perOrigin: 256,
    retries: 2,
    maxPauseMs: 10_000,
    timeoutMs: 2_000,
    ...options,
    log,
    client,
  });
  const post = async (callback: Callback) => {
    const from = events.length;
    const delivered = await outbox.post(callback);
    const own = events.slice(from).filter(({ calls }) => calls?.[0] === callback.about.calls[0]);
    const attempts = own.filter(({ kind }) => kind === 'request').length;
    const last = own.findLast(({ kind }) => kind === (delivered ? 'response' : 'dropped'));
    if (last?.kind === 'response') return { delivered, status: last.status, attempts };
    return { delivered, why: last?.kind === 'dropped' ? last.why : undefined, attempts };
  };
  return {
    outbox,
    post,
    log,
    clock,
    events,
    summary: () => events.map(wordsFor),
    async [Symbol.asyncDispose]() {
      await outbox.close();
      await client.close();
    },
  };
}

export function callbackTo(url: string, options: Partial<Callback> = {}, key = 'c1'): Callback {
  const body = Content.ofJson({ type: 'tool_result', group_id: 'g', id: 'i', text: 'é' });
  return { about: { calls: [key], thread: 'g' }, url, body, type: 'tool_result', ...options };
}

function wordsFor(event: Event): string {
  if (event.kind === 'request') return `request ${event.attempt}`;
  if (event.kind === 'response') return `response ${event.status}`;
  return event.kind === 'broken' ? `broken ${event.code}` : event.kind;
}
