import { randomBytes } from 'node:crypto';
import { EventRing } from '../events/bounded-events.js';
import type { Event } from '../events/events.js';
import { createLog, type Listener, type Log } from '../events/log.js';
import type { VerificationReport } from '../events/verification.js';
import type { Route } from '../http/route.js';
import type { RunningServer } from '../http/server.js';
import { type Clock, systemClock } from '../system/clock.js';
import { DEFAULTS } from './limits.js';
import { OpenCalls } from './plan.js';
import { Responder, type ResponderOptions, type ToolsetFields } from './responder.js';
import { type ServerOptions, startToolServer } from './tool-server.js';
import { Pauses } from './waits.js';

/** What all tools take; fixtures or handlers are required. */
export interface ToolOptions extends ResponderOptions {
  /** Seed of all random draws. Default: random. */
  readonly seed?: string;
  /** How many events are remembered. */
  readonly keep?: number;
  /** How long `close()` waits for what is under way, in ms. */
  readonly drainMs?: number;
}

/** Answers calls from fixtures and handlers, however they come in; remembers and verifies them. */
export abstract class Tool implements AsyncDisposable {
  /** Of all random draws. */
  readonly seed: string;
  protected readonly clock: Clock;
  protected readonly log: Log;
  protected readonly ring: EventRing;
  protected readonly responder: Responder;
  protected readonly openCalls = new OpenCalls();
  protected readonly pauses: Pauses;
  /** RFC 3339, UTC. */
  protected readonly startedAt: string;
  readonly #drainMs: number;
  #closed: Promise<void> | undefined;

  protected constructor(options: ToolOptions) {
    const { clock = systemClock, keep = DEFAULTS.keep, seed = randomBytes(4).toString('hex') } = options;
    this.seed = seed;
    this.clock = clock;
    this.startedAt = clock.wall().toISOString();
    this.pauses = new Pauses(clock);
    this.log = createLog(() => clock.now());
    this.ring = new EventRing({ events: keep });
    this.log.subscribe(event => this.ring.push(event));
    this.responder = new Responder(options, seed, this.log);
    this.#drainMs = options.drainMs ?? DEFAULTS.drainMs;
  }

  /** What it offers at the moment. */
  get toolset(): ToolsetFields {
    return this.responder.toolset;
  }

  /** The events that are remembered, oldest first. */
  get events(): readonly Event[] {
    return this.ring.events;
  }

  /** How many events were forgotten. */
  get forgotten(): number {
    return this.ring.forgotten;
  }

  /** Calls the listener for every event from now on. Returns how to stop. */
  subscribe(listener: Listener): () => void {
    return this.log.subscribe(listener);
  }

  /** Forgets counts and states of one key, or everything, journal and verification included. */
  reset(key?: string): void {
    this.responder.reset(key);
    if (key === undefined) this.ring.clear();
  }

  /**
   * Fires what a call waits for: an event on demand, a consent, the default of a choice. All that wait where no id is given, and
   * in every thread where none is.
   */
  fire(id?: string, groupId?: string): number {
    return this.openCalls.fire(id, groupId);
  }

  /** What was unused, unmatched, undelivered or other than expected, so far. */
  verify(): VerificationReport {
    return this.responder.verification.report();
  }

  /** Whatever is pending is sent at once, for at most `drainMs`; then everything ends. */
  close({ drainMs = this.#drainMs } = {}): Promise<void> {
    this.#closed ??= this.end(drainMs);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected abstract end(drainMs: number): Promise<void>;

  protected serve(options: ServerOptions, routes: readonly Route[]): Promise<RunningServer> {
    const { ring, startedAt } = this;
    const controls = {
      reset: (key?: string) => this.reset(key),
      fire: (id?: string, groupId?: string) => this.fire(id, groupId),
      warn: (message: string) => this.warn(message),
    };
    return startToolServer(options, { ring, startedAt, ...controls }, routes);
  }

  /** Warns of something that is about no call in particular. */
  protected warn(message: string): void {
    this.log.emit({ kind: 'warned', message });
  }

  /** Ends all waits. Resolves when no call is open and `delivered` resolved, or after `ms`. */
  protected async drain(ms: number, delivered?: () => Promise<void>): Promise<void> {
    this.pauses.hurry();
    await new Promise<void>(resolve => {
      const cancel = this.clock.after(ms, resolve);
      void this.openCalls.idle().then(delivered).then(cancel).then(resolve);
    });
  }
}
