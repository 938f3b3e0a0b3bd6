import { EventRing } from '../events/bounded-events.js';
import type { Log } from '../events/log.js';
import { ToolCalls } from '../events/tool-calls.js';
import { Verification } from '../events/verification.js';
import { type FixtureSet, FixtureState } from '../fixtures/fixture-set.js';
import { DEFAULT_MIDDLEWARE } from '../fixtures/schema/file.js';
import type { HttpClient } from '../http/client.js';
import type { Refusal } from '../http/request-body.js';
import { addresseeIn, readInvocation } from '../protocol/read-invocation.js';
import { type Clock, systemClock } from '../system/drafts.js';
import { FixtureAnswers } from './answer-calls.js';
import { DEFAULTS } from './defaults.js';
import { HandlerAnswers, type ToolDefinition } from './handlers.js';
import { OpenCalls } from './intake.js';
import type { Journal } from './journal/journal-file.js';
import type { Recovery } from './journal/recovery.js';
import { resume } from './journal/report.js';
import { type Middleware, Middlewares } from './middleware/middleware.js';
import type { RapServices } from './rap-conversation.js';
import { type Rate, rateGate } from './rate-limit.js';
import { Repeats } from './repeated-invocations.js';
import { Answers, Operations, type ToolsetFields, toolsetOf } from './toolset.js';

/** All options of a mock tool; fixtures or handlers are required. */
export interface MockToolOptions {
  /** Read by `readFixtures`, or checked by `parseFixtures`. */
  readonly fixtures?: FixtureSet;
  /** Operations in code; where both have one, the code answers. */
  readonly handlers?: readonly ToolDefinition[];
  readonly middleware?: readonly Middleware[];
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Host names that requests may use besides the loopback's. */
  readonly allowHosts?: readonly string[];
  /** Origins that callbacks may go to besides loopback. */
  readonly allowCallbacks?: readonly string[];
  /** Seed of all random draws. Default: random. */
  readonly seed?: string;
  readonly rateLimit?: Rate;
  /** How many callbacks may be on their way; what is over it is dropped, and said. */
  readonly maxPending?: number;
  /** Of a callback, after the first attempt. */
  readonly retries?: number;
  /** Executes an invocation again that a runtime repeats. */
  readonly allowRepeats?: boolean;
  /** Bytes of an invocation. */
  readonly maxBody?: number;
  /** How many events are remembered. */
  readonly keep?: number;
  /**
   * A durable journal: what was acknowledged survives a kill; with `sync` a power failure too. Handlers are run again from their start,
   * so messages before their result may be sent twice; a call with an open question ends in an error.
   */
  readonly journal?: { readonly path: string; readonly sync?: boolean };
  /** How long `close()` waits for deliveries, in ms. */
  readonly drainMs?: number;
  /** Who runs it, for transcripts: `protocol-cli/0.1.0`. */
  readonly program?: string;
  /** Sends callbacks. Default: a client made for throughput. */
  readonly client?: () => Promise<HttpClient>;
  readonly clock?: Clock;
}

/** What a tool of handlers alone serves besides them. */
export const NO_FIXTURES: FixtureSet = {
  toolset: { name: 'handlers', tools: [], needsMigration: false },
  middleware: DEFAULT_MIDDLEWARE,
  fixtures: [],
};

type ResponderOptions = Pick<MockToolOptions, 'fixtures' | 'handlers' | 'middleware' | 'rateLimit' | 'clock'>;

/** All that can be answered, what was counted for it, and whether it was used as expected: however calls come in. */
export class Responder {
  readonly #state = new FixtureState();
  readonly #waitFor: () => number;
  #fixtures: FixtureSet;
  #toolset: ToolsetFields | null = null;
  #answers: Answers;
  #verification: Verification;

  /** @param seed all that is drawn comes from it. */
  constructor(
    private readonly options: ResponderOptions,
    private readonly seed: string,
    log: Log,
  ) {
    const { clock = systemClock, fixtures = NO_FIXTURES, rateLimit } = options;
    this.#waitFor = rateGate(rateLimit, clock);
    this.#fixtures = fixtures;
    this.#answers = this.#answersBy(fixtures);
    this.#verification = new Verification(fixtures.fixtures);
    log.subscribe(event => this.#verification.apply(event));
  }

  get answers(): Answers {
    return this.#answers;
  }

  get verification(): Verification {
    return this.#verification;
  }

  /** The same object until the fixtures are replaced. */
  get toolset(): ToolsetFields {
    this.#toolset ??= toolsetOf(this.#fixtures, this.options.handlers ?? []);
    return this.#toolset;
  }

  /** From the next call on. Counts and states stay. */
  replaceFixtures(fixtures: FixtureSet): void {
    this.#fixtures = fixtures;
    this.#toolset = null;
    this.#answers = this.#answersBy(fixtures);
    this.#verification.reload(fixtures.fixtures);
  }

  /** Forgets counts and states of one key, which is a thread unless a fixture says otherwise; or everything, and what was verified. */
  reset(key?: string): void {
    this.#state.reset(key);
    if (key === undefined) this.#verification = new Verification(this.#fixtures.fixtures);
  }

  /** What an earlier run counted. */
  restore(fact: Parameters<FixtureState['restore']>[0]): void {
    this.#state.restore(fact);
  }

  #answersBy(fixtures: FixtureSet): Answers {
    const { handlers = [], middleware, clock = systemClock } = this.options;
    const middlewares = new Middlewares(fixtures.middleware, middleware);
    return new Answers({
      operations: new Operations(toolsetOf(fixtures, handlers)),
      handlers: new HandlerAnswers(handlers, middlewares),
      fixtures: new FixtureAnswers({ fixtures, state: this.#state, middlewares, seed: this.seed, clock }),
      waitFor: this.#waitFor,
    });
  }
}

/** Everything a mock tool works with and remembers, apart from its server. */
export class MockState {
  readonly ring: EventRing;
  readonly repeats: Repeats;
  readonly openCalls = new OpenCalls();
  readonly #responder: Responder;
  #journal: Journal | null = null;

  constructor(
    private readonly options: MockToolOptions,
    readonly seed: string,
    readonly log: Log,
    readonly services: RapServices,
  ) {
    const { keep = DEFAULTS.keep, journal } = options;
    this.ring = new EventRing({ events: keep });
    const remembered = Math.max(DEFAULTS.keep, keep) / 2; // a call has two events at least
    this.repeats = new Repeats(journal ? Math.max(remembered, DEFAULTS.journalCalls) : remembered);
    log.subscribe(event => this.ring.push(event));
    this.#responder = new Responder(options, seed, log);
  }

  get answers(): Answers {
    return this.#responder.answers;
  }

  get verification(): Verification {
    return this.#responder.verification;
  }

  get toolset(): ToolsetFields {
    return this.#responder.toolset;
  }

  /** From the next call on. Counts and states stay. */
  replaceFixtures(fixtures: FixtureSet): void {
    this.#responder.replaceFixtures(fixtures);
  }

  /** Forgets counts and states of one key; or everything. So does the durable journal. */
  reset(key?: string): void {
    this.#responder.reset(key);
    this.#journal?.reset(key);
    if (key !== undefined) return;
    this.repeats.clear();
    this.ring.clear();
  }

  /** From here on everything is kept. What the runs before left counts: counts, states, and which invocations were accepted. */
  keepJournal(journal: Journal, { matched, settled, calls }: Recovery): void {
    this.#journal = journal;
    this.log.keep(journal);
    for (const fact of matched) this.#responder.restore(fact);
    for (const { groupId, id, sha256 } of settled) this.repeats.recall(groupId, id, sha256);
    for (const { key, invocation } of calls) {
      const to = addresseeIn(readInvocation(invocation.json));
      if (to) this.repeats.recall(to.group_id, to.id, invocation.sha256, key);
    }
  }

  /** Goes on with the calls that a restart interrupted. @param base our own base URL. */
  resume({ calls }: Recovery, base: string): void {
    const { services, openCalls, answers } = this;
    for (const call of calls) void resume(call, { services, openCalls, answers, base });
  }

  /** What a cancel notice says. @returns the key of the call it names, known or not. */
  cancel(thread: string, id: string): string {
    const key = this.repeats.keyOf(thread, id);
    this.openCalls.cancel(key);
    return key;
  }

  /** A thread is over, or has moved elsewhere: its calls are called off, and what was counted for it is forgotten. */
  closeThread(thread: string): void {
    this.openCalls.closeThread(thread);
    this.#responder.reset(thread);
  }

  /** Sends the last callback of a call again, the same bytes. Returns false if it is not remembered. */
  redeliver(key: string): boolean {
    const call = ToolCalls.of(this.ring.events).get(key);
    const last = call?.deliveries.at(-1);
    if (!last?.body) return false;
    const thread = call?.addressee?.group_id ?? '';
    void this.services.outbox.post({ key, thread, url: last.url, body: last.body });
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
        if (!this.verification.hasOpenCalls) void this.services.outbox.idle().then(end);
      };
      const stop = this.log.subscribe(look);
      const cancel = clock.after(ms, end);
      look();
    });
  }

  /** Everything is due at once. Resolves when all is delivered or given up; what is left after `ms` is given up. */
  async drain(ms: number): Promise<void> {
    const { pauses, outbox } = this.services;
    const { clock = systemClock } = this.options;
    pauses.hurry();
    outbox.hurry();
    await new Promise<void>(resolve => {
      const cancel = clock.after(ms, resolve);
      const over = this.openCalls.idle().then(() => outbox.idle());
      void over.then(cancel).then(resolve);
    });
    if (!this.#journal) this.openCalls.stop(); // with one, the next run goes on with them
    await outbox.close();
  }

  /** Cancels all open calls. */
  stop(): void {
    this.openCalls.stop();
  }
}

/** Describes a request that no route answered. Masks anything that looks like a token. */
export function refusalText({ method = '', target = '', status, detail }: Refusal): string {
  return `request refused with ${status}: ${method} ${target.replace(/[\w-]{16,}/g, '…')} (${detail})`;
}
