import { isEqual } from '../../fixtures/pattern.js';
import { isSettledStatus } from '../../protocol/session.js';
import { createRedactor } from '../../util/redact.js';
import { excerpt } from '../../util/text.js';
import { type PendingCall, PendingCalls } from './pending-calls.js';
import type { Changes, PlatformClient } from './platform-client.js';

/** Pages read at once: a platform may send new ones without end. */
const MAX_PAGES = 200;

/** No session has an event with this index. */
const BEYOND_ALL = 2 ** 31 - 1;

/** The state of a session, as its platform reports it. */
export class SessionWatch {
  readonly #clean: (text: string) => string;
  readonly #calls: PendingCalls;
  #from = 0;
  #page: readonly unknown[] = [];
  /** Whether the platform obeys `from_index`; null until there is doubt. */
  #obeysFrom: boolean | null = null;
  #isEndless = false;
  #status = '';
  #latest: Changes | null = null;
  #reportedKeys = '';

  constructor(private readonly platform: PlatformClient) {
    this.#clean = createRedactor([platform.connection.key]).text;
    this.#calls = new PendingCalls(this.#clean);
  }

  get status(): string {
    return this.#status;
  }

  get isSettled(): boolean {
    return isSettledStatus(this.#status);
  }

  /** The platform's error, or null. */
  get error(): string | null {
    const error = this.#latest?.error ?? null;
    return error === null || typeof error === 'string' ? error : excerpt(this.#clean(JSON.stringify(error)));
  }

  /** The final answer of the agent. */
  get answer(): unknown {
    return this.#latest?.answer;
  }

  get isAwaiting(): boolean {
    return this.#status === 'awaiting_tool_results';
  }

  /** The calls it waits for now. */
  get pending(): readonly PendingCall[] {
    return this.isAwaiting ? this.#calls.calls : [];
  }

  /** The calls published last, whatever the status: a pause does not withdraw them. */
  get listed(): readonly PendingCall[] {
    return this.isSettled ? [] : this.#calls.calls;
  }

  /** Whether there were more new events than are read at once. */
  get isEndless(): boolean {
    return this.#isEndless;
  }

  /**
   * Reads and reports what is new, waiting for it up to `waitSeconds`. Returns whether there was something.
   * @param signal aborted, no more is read
   * @throws ProtocolCliError see {@link PlatformClient.changes}.
   */
  async look(waitSeconds: number, signal?: AbortSignal): Promise<boolean> {
    const before = { from: this.#from, status: this.#status };
    await this.#readEvents(waitSeconds, signal);
    this.#status = await this.platform.status();
    if (this.isSettled && this.#latest?.status !== this.#status) {
      const ending = await this.platform.changes({ from: 0, waitSeconds: 0, withEvents: false });
      if (ending) this.#latest = ending;
    }
    if (this.#status !== before.status) this.#reportStatus();
    this.#reportPending();
    return this.#from > before.from || this.#status !== before.status;
  }

  /** Reads all pages: only the latest event counts, and a page may end before it. */
  async #readEvents(waitSeconds: number, signal?: AbortSignal): Promise<void> {
    this.#isEndless = false;
    let changes = await this.platform.changes({ from: this.#from, waitSeconds }, signal);
    for (let pages = 1; changes && (await this.#take(changes)); pages++) {
      this.#isEndless = pages >= MAX_PAGES;
      if (this.#isEndless) return;
      changes = await this.platform.changes({ from: this.#from, waitSeconds: 0 }, signal);
    }
  }

  /** Returns whether there were new events. */
  async #take(changes: Changes): Promise<boolean> {
    this.#latest = changes;
    const events = await this.#newOf(changes.new_events ?? []);
    this.#from += events.length;
    for (const event of events) for (const warning of this.#calls.apply(event)) this.platform.warn(warning);
    return events.length > 0;
  }

  /** Skips known events of a platform that ignores `from_index` and sends all of them each time. */
  async #newOf(events: readonly unknown[]): Promise<readonly unknown[]> {
    if (this.#obeysFrom === null && this.#beginsAsBefore(events)) {
      const beyond = await this.platform.changes({ from: BEYOND_ALL, waitSeconds: 0 });
      this.#obeysFrom = (beyond?.new_events?.length ?? 0) === 0;
      if (!this.#obeysFrom)
        this.platform.warn('the platform ignores from_index and sends all events each time');
    }
    if (this.#obeysFrom === false) return events.slice(this.#from);
    this.#page = events;
    return events;
  }

  /** Whether a page begins as the one before; no proof, since events may look alike. */
  #beginsAsBefore(events: readonly unknown[]): boolean {
    const { length } = this.#page;
    return length > 0 && events.length >= length && isEqual(events.slice(0, length), this.#page);
  }

  #reportStatus(): void {
    const { log, thread } = this.platform.connection;
    const { status, error, answer } = this;
    const hasAnswer = answer !== undefined && answer !== null;
    const ending = { ...(error !== null && { error }), ...(hasAnswer && { answer }) };
    log.emit({ kind: 'session', thread, status, ...(this.isSettled && ending) });
  }

  #reportPending(): void {
    const pending = this.pending.map(({ key, tool, args, id }) => ({ key, tool_name: tool, args, id }));
    const calls = pending.map(({ key }) => key);
    const keys = JSON.stringify(calls);
    if (keys === this.#reportedKeys) return;
    this.#reportedKeys = keys;
    const { log, thread } = this.platform.connection;
    if (pending.length > 0) log.emit({ kind: 'awaiting', thread, calls, pending });
  }
}
