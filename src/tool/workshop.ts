import { EventRing } from '../exchange/event-ring.js';
import type { Log } from '../exchange/log.js';
import { ToolCalls } from '../exchange/tool-calls.js';
import type { Verification } from '../exchange/verification/verification.js';
import type { FixtureSet } from '../fixtures/fixture-set.js';
import { addresseeIn, readInvocation } from '../protocol/read-invocation.js';
import { systemClock } from '../system/clock.js';
import type { Answers } from './answers/answers.js';
import type { ToolsetFields } from './answers/operations.js';
import type { Desk } from './conversation/rap-conversation.js';
import { DEFAULTS } from './defaults.js';
import { CallsUnderWay } from './intake/calls-under-way.js';
import { Repeats } from './intake/repeats.js';
import type { Journal } from './journal/durable.js';
import type { Recovery } from './journal/recovery.js';
import { resume } from './journal/resumption.js';
import type { MockToolOptions } from './options.js';
import { Repertoire } from './repertoire.js';

/** Everything a mock tool works with and remembers, apart from its server. */
export class Workshop {
  readonly ring: EventRing;
  readonly repeats: Repeats;
  readonly underWay = new CallsUnderWay();
  readonly #repertoire: Repertoire;
  #journal: Journal | null = null;

  constructor(
    private readonly options: MockToolOptions,
    readonly seed: string,
    readonly log: Log,
    readonly desk: Desk,
  ) {
    const { keep = DEFAULTS.keep, journal } = options;
    this.ring = new EventRing({ events: keep });
    const remembered = Math.max(DEFAULTS.keep, keep) / 2; // a call has two events at least
    this.repeats = new Repeats(journal ? Math.max(remembered, DEFAULTS.journalCalls) : remembered);
    log.subscribe(event => this.ring.push(event));
    this.#repertoire = new Repertoire(options, seed, log);
  }

  get answers(): Answers {
    return this.#repertoire.answers;
  }

  get verification(): Verification {
    return this.#repertoire.verification;
  }

  get toolset(): ToolsetFields {
    return this.#repertoire.toolset;
  }

  /** From the next call on. Counts and states stay. */
  replaceFixtures(fixtures: FixtureSet): void {
    this.#repertoire.replaceFixtures(fixtures);
  }

  /** Forgets counts and states of one key; or everything. So does the durable journal. */
  reset(key?: string): void {
    this.#repertoire.reset(key);
    this.#journal?.reset(key);
    if (key !== undefined) return;
    this.repeats.clear();
    this.ring.clear();
  }

  /** From here on everything is kept. What the runs before left counts: counts, states, and which invocations were accepted. */
  keepJournal(journal: Journal, { matched, settled, calls }: Recovery): void {
    this.#journal = journal;
    this.log.keep(journal);
    for (const fact of matched) this.#repertoire.restore(fact);
    for (const { groupId, id, sha256 } of settled) this.repeats.recall(groupId, id, sha256);
    for (const { key, invocation } of calls) {
      const to = addresseeIn(readInvocation(invocation.json));
      if (to) this.repeats.recall(to.group_id, to.id, invocation.sha256, key);
    }
  }

  /** Goes on with the calls that a restart interrupted. @param base our own base URL. */
  resume({ calls }: Recovery, base: string): void {
    const { desk, underWay, answers } = this;
    for (const call of calls) void resume(call, { desk, underWay, answers, base });
  }

  /** What a cancel notice says. @returns the key of the call it names, known or not. */
  cancel(thread: string, id: string): string {
    const key = this.repeats.keyOf(thread, id);
    this.underWay.cancel(key);
    return key;
  }

  /** A thread is over, or has moved elsewhere: its calls are called off, and what was counted for it is forgotten. */
  closeThread(thread: string): void {
    this.underWay.closeThread(thread);
    this.#repertoire.reset(thread);
  }

  /** Sends the last callback of a call once more, the same bytes. False where there is none any more. */
  redeliver(key: string): boolean {
    const call = ToolCalls.of(this.ring.events).get(key);
    const last = call?.deliveries.at(-1);
    if (!last?.body) return false;
    const thread = call?.addressee?.group_id ?? '';
    void this.desk.outbox.post({ key, thread, url: last.url, body: last.body });
    return true;
  }

  /** Resolves when no call is open and no callback is on its way, or after `ms`. */
  settled(ms: number): Promise<void> {
    const { clock = systemClock } = this.options;
    return new Promise(resolve => {
      const end = () => {
        stop();
        cancel();
        resolve();
      };
      const look = () => {
        if (!this.verification.hasOpenCalls) void this.desk.outbox.idle().then(end);
      };
      const stop = this.log.subscribe(look);
      const cancel = clock.after(ms, end);
      look();
    });
  }

  /** Everything is due at once. Resolves when all is delivered or given up; what is left after `ms` is given up. */
  async drain(ms: number): Promise<void> {
    const { pauses, outbox } = this.desk;
    const { clock = systemClock } = this.options;
    pauses.hurry();
    outbox.hurry();
    await new Promise<void>(resolve => {
      const cancel = clock.after(ms, resolve);
      const over = this.underWay.idle().then(() => outbox.idle());
      void over.then(cancel).then(resolve);
    });
    if (!this.#journal) this.underWay.stop(); // with one, the next run goes on with them
    await outbox.close();
  }

  /** Whatever is still worked on is not waited for, and is told so. */
  stop(): void {
    this.underWay.stop();
  }
}
