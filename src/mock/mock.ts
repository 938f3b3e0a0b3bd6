import { randomBytes } from 'node:crypto';
import { EventRing } from '../events/bounded-events.js';
import type { Event } from '../events/events.js';
import { createLog, type EventStore, type Listener, type Log } from '../events/log.js';
import type { Denial, Incoming } from '../http/route.js';
import { type Clock, finishedWithin, systemClock } from '../system/clock.js';
import { LIMITS } from '../util/limits.js';
import type { VerificationReport } from '../verification/report.js';
import { Pauses } from './open-call.js';
import { OpenCalls } from './plan.js';
import { type ArgumentCheckers, Responder, type ResponderOptions, type ToolsetFields } from './responder.js';

/** Default limits; the options of the command have the same values. */
export const DEFAULTS = {
  maxPending: LIMITS.pendingCallbacks.value,
  retries: 5,
  maxBody: LIMITS.invocationBytes.value,
  keep: LIMITS.eventsKept.value,
  drainMs: 5_000,
  /** Timeout of one callback attempt, in ms. */
  attemptMs: 15_000,
  /** Maximum pause between two attempts, in ms. */
  maxPauseMs: 30_000,
  perOrigin: 256,
} as const;

/** Options of all mocks; fixtures or handlers are required. */
export interface MockOptions extends ResponderOptions {
  /** Seed of all random numbers. Default: random. */
  readonly seed?: string;
  /** Number of events to remember. */
  readonly keep?: number;
  /** How long `close()` waits for pending work, in ms. */
  readonly drainMs?: number;
  /** Takes every event. An invocation is acknowledged once its events are stored. */
  readonly store?: EventStore;
}

/** How to close a mock. */
export interface CloseOptions {
  /** How long to wait for pending work, in ms. */
  readonly drainMs?: number;
}

/** What answers calls on any wire: fixtures and handlers, the open calls, and the log of all that happened. */
export class Mock {
  /** Seed of all random numbers. */
  readonly seed: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly responder: Responder;
  readonly pauses: Pauses;
  /** RFC 3339, UTC. */
  readonly startedAt: string;
  /** How long closing waits for pending work, in ms. */
  readonly drainMs: number;
  readonly #ring: EventRing;

  constructor(
    options: MockOptions,
    checkers: ArgumentCheckers,
    readonly openCalls = new OpenCalls(),
  ) {
    const { clock = systemClock, seed = randomBytes(4).toString('hex') } = options;
    const { keep = DEFAULTS.keep, drainMs = DEFAULTS.drainMs } = options;
    this.seed = seed;
    this.clock = clock;
    this.startedAt = clock.wall().toISOString();
    this.drainMs = drainMs;
    this.pauses = new Pauses(clock);
    this.log = createLog(() => clock.now());
    if (options.store) this.log.storeEventsIn(options.store);
    this.#ring = new EventRing({ events: keep });
    this.log.subscribe(event => this.#ring.push(event));
    this.responder = new Responder(options, checkers, seed, this.log);
  }

  get toolset(): ToolsetFields {
    return this.responder.toolset;
  }

  /** The remembered events, oldest first. */
  get events(): readonly Event[] {
    return this.#ring.events;
  }

  get forgotten(): number {
    return this.#ring.forgotten;
  }

  /** Calls the listener for every future event. Returns a function that stops this. */
  subscribe(listener: Listener): () => void {
    return this.log.subscribe(listener);
  }

  /** Resets the counts and states of one key; without a key everything, including the list of calls and the verification. */
  reset(key?: string): void {
    this.responder.reset(key);
    if (key === undefined) this.#ring.clear();
  }

  /**
   * Fires the trigger of a waiting call: an event on demand, a consent, the default of a choice. Without an id it fires all triggers,
   * without a thread those of every thread.
   */
  fire(id?: string, groupId?: string): number {
    return this.openCalls.fire(id, groupId);
  }

  /** What is unused, unmatched, undelivered or unexpected so far. */
  verify(): VerificationReport {
    return this.responder.verification.report();
  }

  /** Logs a warning that is not about a call. */
  warn(message: string): void {
    this.log.emit({ kind: 'warned', message });
  }

  /** Logs a request that no handler answered. */
  warnOfRefusal({ status, detail }: Denial, { method, target }: Incoming): void {
    const shown = target.replace(/[\w-]{16,}/g, '…'); // masks possible tokens
    this.warn(`request refused with ${status}: ${method} ${shown} (${detail})`);
  }

  /** Ends all waits. Resolves when no call is open and `delivered` resolved, or after `ms`. */
  async drain(ms: number, delivered?: () => Promise<void>): Promise<void> {
    this.pauses.endAll();
    await finishedWithin(this.openCalls.idle().then(delivered), ms, { clock: this.clock });
  }
}
