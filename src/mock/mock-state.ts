import { randomBytes } from 'node:crypto';
import { EventRing } from '../events/bounded-events.js';
import { createLog, type Log } from '../events/log.js';
import { ToolCalls } from '../events/tool-call.js';
import { allowedDestinations } from '../http/addresses.js';
import type { HttpClient } from '../http/client.js';
import type { Refusal } from '../http/route.js';
import { addresseeIn, readInvocation } from '../protocol/read-invocation.js';
import { type Clock, systemClock } from '../system/clock.js';
import { DEFAULTS } from './defaults.js';
import type { Journal } from './journal/journal.js';
import type { Recovery } from './journal/recovery.js';
import { Outbox } from './outbox.js';
import { OpenCalls } from './plan.js';
import type { RapServices } from './rap-conversation.js';
import { Repeats } from './repeats.js';
import { Responder, type ResponderOptions } from './responder.js';
import { ManualTriggers, Pauses, Questions } from './waits.js';

/** All options of a mock tool; fixtures or handlers are required. */
export interface MockToolOptions extends ResponderOptions {
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Host names that requests may use besides those of the loopback. */
  readonly allowHosts?: readonly string[];
  /** Origins that callbacks may go to besides loopback. */
  readonly allowCallbacks?: readonly string[];
  /** Seed of all random draws. Default: random. */
  readonly seed?: string;
  /** Maximum number of callbacks under way; more are dropped and reported. */
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
  /** Name and version of the program, for transcripts: `protocol-cli/0.1.0`. */
  readonly program?: string;
  /** Sends callbacks. Default: a client made for throughput. */
  readonly client?: () => Promise<HttpClient>;
}

export const CONSENT_PATH = '/authorize';

/** Everything a mock tool works with and remembers, apart from its server. */
export class MockState {
  readonly seed: string;
  readonly log: Log;
  readonly ring: EventRing;
  readonly repeats: Repeats;
  readonly responder: Responder;
  readonly services: RapServices;
  readonly #clock: Clock;
  #journal: Journal | null = null;

  /** @throws ProtocolCliError `usage` for an invalid origin. */
  constructor(
    options: MockToolOptions,
    client: HttpClient,
    readonly openCalls = new OpenCalls(),
  ) {
    const { keep = DEFAULTS.keep, journal, clock = systemClock, allowCallbacks = [] } = options;
    this.#clock = clock;
    this.seed = options.seed ?? randomBytes(4).toString('hex');
    this.log = createLog(() => clock.now());
    this.ring = new EventRing({ events: keep });
    this.log.subscribe(event => this.ring.push(event));
    const remembered = Math.max(DEFAULTS.keep, keep) / 2; // a call has two events at least
    this.repeats = new Repeats(journal ? Math.max(remembered, DEFAULTS.journalCalls) : remembered);
    this.responder = new Responder(options, this.seed, this.log);
    const outbox = new Outbox({
      log: this.log,
      client,
      clock,
      random: Math.random,
      allows: allowedDestinations(allowCallbacks),
      queueLimit: options.maxPending ?? DEFAULTS.maxPending,
      queueBytes: DEFAULTS.maxPendingBytes,
      perOrigin: DEFAULTS.perOrigin,
      retries: options.retries ?? DEFAULTS.retries,
      maxPauseMs: DEFAULTS.maxPauseMs,
      timeoutMs: DEFAULTS.attemptMs,
    });
    this.services = {
      log: this.log,
      outbox,
      pauses: new Pauses(clock),
      triggers: new ManualTriggers(),
      choices: new Questions('/choices/'),
      consents: new Questions(`${CONSENT_PATH}?state=`), // in the query: what is logged of an `auth_url` has none (threats, row 25)
    };
  }

  /** Forgets counts and states of one key; or everything. So does the durable journal. */
  reset(key?: string): void {
    this.responder.reset(key);
    this.#journal?.reset(key);
    if (key !== undefined) return;
    this.repeats.clear();
    this.ring.clear();
  }

  /** Keeps all further events. Restores counts, states and accepted invocations of earlier runs. */
  keepJournal(journal: Journal, { matched, settled, calls }: Recovery): void {
    this.#journal = journal;
    this.log.keep(journal);
    for (const fact of matched) this.responder.restore(fact);
    for (const { groupId, id, sha256 } of settled) this.repeats.recall(groupId, id, sha256);
    for (const { key, invocation } of calls) {
      const to = addresseeIn(readInvocation(invocation.json));
      if (to) this.repeats.recall(to.group_id, to.id, invocation.sha256, key);
    }
  }

  /** Cancels the call that a notice names. Returns its key, known or not. */
  cancel(thread: string, id: string): string {
    const key = this.repeats.keyOf(thread, id);
    this.openCalls.cancel(key);
    return key;
  }

  /** Cancels the calls of a thread that is over, or has moved elsewhere, and forgets what was counted for it. */
  closeThread(thread: string): void {
    this.openCalls.closeThread(thread);
    this.responder.reset(thread);
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

  /** Resolves when no call is open and no callback is under way, or after `ms`. */
  settled(ms: number): Promise<void> {
    return new Promise(resolve => {
      const end = () => {
        stop();
        cancel();
        resolve();
      };
      const look = () => {
        if (!this.responder.verification.hasOpenCalls) void this.services.outbox.idle().then(end);
      };
      const stop = this.log.subscribe(look);
      const cancel = this.#clock.after(ms, end);
      look();
    });
  }

  /** Ends all waits. Resolves when all is delivered or given up; what is left after `ms` is given up. */
  async drain(ms: number): Promise<void> {
    const { pauses, outbox } = this.services;
    pauses.hurry();
    outbox.hurry();
    await new Promise<void>(resolve => {
      const cancel = this.#clock.after(ms, resolve);
      const over = this.openCalls.idle().then(() => outbox.idle());
      void over.then(cancel).then(resolve);
    });
    if (!this.#journal) this.openCalls.stop(); // with one, the next run goes on with them
    await outbox.close();
  }
}

/** Describes a request that no route answered. Masks anything that looks like a token. */
export function refusalText({ method = '', target = '', status, detail }: Refusal): string {
  return `request refused with ${status}: ${method} ${target.replace(/[\w-]{16,}/g, '…')} (${detail})`;
}
