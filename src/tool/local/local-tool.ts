import { randomBytes } from 'node:crypto';
import { EventRing } from '../../exchange/event-ring.js';
import type { Event } from '../../exchange/events.js';
import { createLog, type Listener, type Log } from '../../exchange/log.js';
import type { VerificationReport } from '../../exchange/verification/report.js';
import type { FixtureSet } from '../../fixtures/fixture-set.js';
import { systemClock } from '../../system/clock.js';
import type { ToolsetFields } from '../answers/operations.js';
import { requireSound, toolsetOf } from '../answers/toolset-of.js';
import { Pauses } from '../conversation/pauses.js';
import { DEFAULTS } from '../defaults.js';
import { type MockToolOptions, NO_FIXTURES } from '../options.js';
import { Repertoire } from '../repertoire.js';
import type { Asked, LocalCall, SentAnswer } from './local-call.js';
import { LocalCalls } from './local-calls.js';
import { passOn } from './pass-on.js';
import { PromptDemands } from './prompt-demands.js';
import { NO_WIRE, type Wire } from './wire.js';
import { withoutFaults } from './without-faults.js';

/** Everything a local tool can be told; nothing is needed but fixtures or handlers. */
export interface LocalToolOptions
  extends Pick<
    MockToolOptions,
    'fixtures' | 'handlers' | 'middleware' | 'seed' | 'rateLimit' | 'keep' | 'clock' | 'drainMs'
  > {
  /** What is decided about a call (matched, shaped, warned, …) is told there too; that it came and ended is its owner's to tell. */
  readonly log?: Log;
  /** Whoever answers questions; without anybody a choice is its default, and a consent is refused, each with a warning. */
  readonly ask?: Partial<Asked>;
  /** How calls come in and answers go out, where they do so over a wire after all. */
  readonly wire?: Wire;
}

/**
 * A tool that answers in this process: fixtures and handlers as a mock serves them, without the wire. Faults of acknowledgements
 * and callbacks do not happen, since there are none; delays, sequences and states do.
 */
export class LocalTool implements AsyncDisposable {
  #closed: Promise<void> | undefined;

  private constructor(
    private readonly options: LocalToolOptions,
    private readonly log: Log,
    /** All that is drawn comes from it. */
    readonly seed: string,
    private readonly repertoire: Repertoire,
    private readonly calls: LocalCalls,
    private readonly ring: EventRing,
  ) {}

  /** @throws ProtocolCliError `invalid-toolset`. */
  static async start(options: LocalToolOptions): Promise<LocalTool> {
    const { handlers = [], clock = systemClock, keep = DEFAULTS.keep, ask = {}, wire = NO_WIRE } = options;
    const fixtures = withoutFaults(options.fixtures ?? NO_FIXTURES);
    await requireSound(toolsetOf(fixtures, handlers));
    const log = createLog(() => clock.now());
    const seed = options.seed ?? randomBytes(4).toString('hex');
    const ring = new EventRing({ events: keep });
    log.subscribe(event => ring.push(event));
    if (options.log) passOn(log, options.log);
    const repertoire = new Repertoire({ ...options, fixtures }, seed, log);
    const desk = { log, pauses: new Pauses(clock), demands: new PromptDemands() };
    const offers = (operation: string) => repertoire.toolset.tools.some(({ name }) => name === operation);
    const calls = new LocalCalls({ desk, ask, wire, offers, answers: () => repertoire.answers });
    return new LocalTool(options, log, seed, repertoire, calls, ring);
  }

  /** What it offers at the moment. */
  get toolset(): ToolsetFields {
    return this.repertoire.toolset;
  }

  /** The events that are remembered, oldest first. */
  get events(): readonly Event[] {
    return this.ring.events;
  }

  /** As {@link events}, the very events. */
  get kept(): readonly Event[] {
    return this.ring.kept;
  }

  /** How many events were forgotten. */
  get forgotten(): number {
    return this.ring.forgotten;
  }

  /** Tells of every event from now on. Returns how to stop listening. */
  subscribe(listener: Listener): () => void {
    return this.log.subscribe(listener);
  }

  /** Never rejects: whatever goes wrong is an outcome. One that is `silence` resolves at once: it is the caller's to keep still. */
  call(call: LocalCall): Promise<SentAnswer> {
    return this.calls.answer(call);
  }

  /** Answers by other fixtures from the next call on. @throws ProtocolCliError `invalid-toolset`. */
  async replaceFixtures(fixtures: FixtureSet): Promise<void> {
    await requireSound(toolsetOf(fixtures, this.options.handlers ?? []));
    this.repertoire.replaceFixtures(withoutFaults(fixtures));
  }

  /** What a person should know, of no call in particular. */
  warn(message: string): void {
    this.log.emit({ kind: 'warned', message });
  }

  /** Begins anew: counts and states of one key, or everything there is, verification included. */
  reset(key?: string): void {
    this.repertoire.reset(key);
    if (key === undefined) this.ring.clear();
  }

  /** What was unused, unmatched or other than expected, so far. */
  verify(): VerificationReport {
    return this.repertoire.verification.report();
  }

  /** Nothing is waited for any more; what is still worked on after `drainMs` is called off. */
  close({ drainMs = this.options.drainMs ?? DEFAULTS.drainMs } = {}): Promise<void> {
    this.#closed ??= this.calls.drain(drainMs, this.options.clock ?? systemClock);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** See {@link LocalTool.start}. */
export const startLocalTool = LocalTool.start;
