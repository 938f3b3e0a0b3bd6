import { isEqual } from '../../fixtures/matching/equal.js';
import { isSettledStatus } from '../../protocol/session/status.js';
import { excerpt } from '../../text/excerpt.js';
import { createRedactor } from '../../text/redact.js';
import { type PendingCall, PendingCalls } from './pending-calls.js';
import type { OpenChanges, Platform } from './platform.js';
import type { PlatformDesk } from './recorded-send.js';
import type { Clean } from './refusal.js';

/** So many pages are read before it is judged what they say: a platform may never come to an end. */
const MOST_PAGES = 200;
/** No session has an event with this number. */
const BEYOND = 2 ** 31 - 1;

/** What is known of a session, as its platform tells it. */
export class SessionWatch {
  readonly #clean: Clean;
  readonly #calls: PendingCalls;
  #from = 0;
  #page: readonly unknown[] = [];
  /** Whether it heeds `from_index`; null until there is a doubt. */
  #isHeeding: boolean | null = null;
  #isEndless = false;
  #status = '';
  #latest: Pick<OpenChanges, 'status' | 'error' | 'answer'> | null = null;
  #toldKeys = '';

  constructor(
    private readonly desk: Pick<PlatformDesk, 'log' | 'thread' | 'key'>,
    private readonly platform: Platform,
  ) {
    this.#clean = createRedactor([desk.key]).text;
    this.#calls = new PendingCalls(this.#clean);
  }

  get status(): string {
    return this.#status;
  }

  /** Nothing more comes, unless somebody sends a message. */
  get isSettled(): boolean {
    return isSettledStatus(this.#status);
  }

  /** What went wrong, as the platform says it; null where it says nothing. */
  get error(): string | null {
    const error = this.#latest?.error ?? null;
    return error === null || typeof error === 'string' ? error : excerpt(this.#clean(JSON.stringify(error)));
  }

  /** What the agent says in the end. */
  get answer(): unknown {
    return this.#latest?.answer;
  }

  /** Whether it waits for results now. */
  get isAwaiting(): boolean {
    return this.#status === 'awaiting_tool_results';
  }

  /** The calls it waits for now. */
  get pending(): readonly PendingCall[] {
    return this.isAwaiting ? this.#calls.calls : [];
  }

  /** The calls it published last, whatever its status: a moment of `paused` takes none back. */
  get listed(): readonly PendingCall[] {
    return this.isSettled ? [] : this.#calls.calls;
  }

  /** Whether there was more to read than anybody reads at once. */
  get isEndless(): boolean {
    return this.#isEndless;
  }

  /**
   * Reads what is new, waiting for it so many seconds, and tells it. Whether there was something.
   * @param signal aborted, no more is read
   * @throws ProtocolCliError see {@link Platform.changes}.
   */
  async look(waitSeconds: number, signal?: AbortSignal): Promise<boolean> {
    const before = { from: this.#from, status: this.#status };
    await this.#readOn(waitSeconds, signal);
    this.#status = await this.platform.status();
    if (this.isSettled && this.#latest?.status !== this.#status) await this.#readEnd();
    this.#tell(before.status);
    return this.#from > before.from || this.#status !== before.status;
  }

  /** To the end: only the latest event counts, and a page may end before it. */
  async #readOn(waitSeconds: number, signal?: AbortSignal): Promise<void> {
    this.#isEndless = false;
    let changes = await this.platform.changes({ from: this.#from, waitSeconds }, signal);
    for (let pages = 1; changes && (await this.#take(changes)); pages++) {
      this.#isEndless = pages >= MOST_PAGES;
      if (this.#isEndless) return;
      changes = await this.platform.changes({ from: this.#from, waitSeconds: 0 }, signal);
    }
  }

  /** Whether there were new events. */
  async #take(changes: OpenChanges): Promise<boolean> {
    this.#latest = changes;
    const events = await this.#newOf(changes.new_events ?? []);
    this.#from += events.length;
    for (const event of events) for (const message of this.#calls.apply(event)) this.#warn(message);
    return events.length > 0;
  }

  /** A platform that does not heed `from_index` tells all events each time: what is known is no news. */
  async #newOf(events: readonly unknown[]): Promise<readonly unknown[]> {
    if (this.#isHeeding === null && this.#isAgain(events)) {
      this.#isHeeding = (await this.#eventsBeyond()) === 0;
      if (!this.#isHeeding)
        this.#warn('the platform does not heed from_index: it tells all events again each time');
    }
    if (this.#isHeeding === false) return events.slice(this.#from);
    this.#page = events;
    return events;
  }

  /** Whether a page begins as the one before: events may look the same, so that it proves nothing. */
  #isAgain(events: readonly unknown[]): boolean {
    const before = this.#page;
    return (
      before.length > 0 && events.length >= before.length && isEqual(events.slice(0, before.length), before)
    );
  }

  async #eventsBeyond(): Promise<number> {
    const changes = await this.platform.changes({ from: BEYOND, waitSeconds: 0 });
    return changes?.new_events?.length ?? 0;
  }

  /** It has ended since the events were read: how is said beside them, whether there are new ones or not. */
  async #readEnd(): Promise<void> {
    const whole = await this.platform.changes({ from: 0, waitSeconds: 0, withEvents: false });
    if (whole) this.#latest = whole;
  }

  #tell(statusBefore: string): void {
    const { log, thread } = this.desk;
    const status = this.#status;
    if (status !== statusBefore) log.emit({ kind: 'session', thread, status, ...this.#ending() });
    const keys = JSON.stringify(this.pending.map(({ key }) => key));
    if (keys === this.#toldKeys) return;
    this.#toldKeys = keys;
    if (this.pending.length === 0) return;
    const pending = this.pending.map(({ key, tool, args, id }) => ({ key, tool_name: tool, args, id }));
    log.emit({ kind: 'awaiting', thread, calls: pending.map(({ key }) => key), pending });
  }

  #ending(): { error?: string; answer?: unknown } {
    if (!this.isSettled) return {};
    const { error, answer } = this;
    return { ...(error !== null && { error }), ...(answer !== undefined && answer !== null && { answer }) };
  }

  #warn(message: string): void {
    this.desk.log.emit({ kind: 'warned', thread: this.desk.thread, message });
  }
}
