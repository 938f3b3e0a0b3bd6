import { randomBytes } from 'node:crypto';
import { ProtocolCliError } from '../errors.js';
import type { Event } from '../exchange/events.js';
import type { Listener } from '../exchange/log.js';
import { createLog } from '../exchange/log.js';
import { type ToolCall, type ToolCallState, toolCallState } from '../exchange/tool-call.js';
import { ToolCalls } from '../exchange/tool-calls.js';
import type { VerificationReport } from '../exchange/verification/report.js';
import { systemClock } from '../system/clock.js';
import { isRecord } from '../text/is-record.js';
import type { HttpClient } from '../transport/client.js';
import { lazyClient } from '../transport/lazy-client.js';
import type { RunningServer } from '../transport/server.js';
import type { ToolsetFields } from './answers/operations.js';
import { requireSound, toolsetOf } from './answers/toolset-of.js';
import { type CallFilter, callWithin, PATIENCE_MS, requireOffered } from './awaiting.js';
import { deskOf } from './conversation/desk.js';
import { DEFAULTS } from './defaults.js';
import { type FixtureSource, fixturesFrom } from './fixture-files.js';
import type { Journal } from './journal/durable.js';
import type { Recovery } from './journal/recovery.js';
import { type MockToolOptions, NO_FIXTURES } from './options.js';
import { serve } from './serve.js';
import { Workshop } from './workshop.js';

/** Which call, and how long. */
export interface DeliveryWait {
  readonly groupId?: string;
  readonly timeoutMs?: number;
}

/** Everything that `startMockTool` takes. */
export interface StartMockToolOptions extends Omit<MockToolOptions, 'fixtures'> {
  readonly fixtures?: FixtureSource;
}

/** A tool that answers as it is told, and knows afterwards what happened. */
export class MockTool implements AsyncDisposable {
  #closed: Promise<void> | undefined;

  private constructor(
    private readonly workshop: Workshop,
    private readonly server: RunningServer,
    private readonly options: MockToolOptions,
    private readonly kept: { readonly journal: Journal; readonly recovery: Recovery } | null,
    private readonly release: () => Promise<void>,
  ) {}

  /**
   * Serves fixtures, handlers, or both.
   * @throws ProtocolCliError `usage`, `unreadable-file`, `invalid-fixtures`, `invalid-toolset`, `port-in-use`; for a journal `unwritable-file`.
   */
  static async start(given: StartMockToolOptions): Promise<MockTool> {
    const options = await readOptions(given);
    const { fixtures = NO_FIXTURES, handlers = [], clock = systemClock } = options;
    await requireSound(toolsetOf(fixtures, handlers));
    const log = createLog(() => clock.now());
    const client = lazyClient(options.client ?? agentClient);
    const seed = options.seed ?? randomBytes(4).toString('hex');
    const workshop = new Workshop(options, seed, log, deskOf(log, client, options));
    let stop = () => {};
    const stopped = new Promise<void>(resolve => {
      stop = resolve;
    });
    const startedAt = clock.wall().toISOString();
    const kept = options.journal
      ? await keepJournal(options.journal, { workshop, startedAt, options })
      : null;
    const server = await serve({ workshop, options, startedAt, stopped }).catch(async error => {
      await kept?.journal.close();
      throw error;
    });
    if (kept) workshop.resume(kept.recovery, server.url);
    const release = async () => {
      stop();
      await client.close();
    };
    return new MockTool(workshop, server, options, kept, release);
  }

  /** All that is drawn comes from it. */
  get seed(): string {
    return this.workshop.seed;
  }

  get port(): number {
    return this.server.port;
  }

  get url(): string {
    return this.server.url;
  }

  /** What it offers at the moment. */
  get toolset(): ToolsetFields {
    return this.workshop.toolset;
  }

  /** The calls that are remembered, oldest first. */
  calls(): readonly ToolCall[] {
    return ToolCalls.of(this.events).list;
  }

  /** The events that are remembered, oldest first. */
  get events(): readonly Event[] {
    return this.workshop.ring.events;
  }

  /** How many events were forgotten. */
  get forgotten(): number {
    return this.workshop.ring.forgotten;
  }

  /** Tells of every event from now on. Returns how to stop listening. */
  subscribe(listener: Listener): () => void {
    return this.workshop.desk.log.subscribe(listener);
  }

  /**
   * A call that came, or the next one that does: by operation, or whatever `filter` says.
   * @throws Error after `timeoutMs`, 4,000 unless told; at once for an operation that is not offered.
   */
  async waitForCall(filter?: CallFilter, { timeoutMs = PATIENCE_MS } = {}): Promise<ToolCall> {
    if (typeof filter !== 'string')
      return callWithin(this, timeoutMs, {
        what: filter ? 'a call that passes the filter' : 'a call',
        filter,
      });
    requireOffered(
      filter,
      this.toolset.tools.map(({ name }) => name),
    );
    return callWithin(this, timeoutMs, { what: `a call of "${filter}"`, filter });
  }

  /**
   * The call with this `id`, once its result was delivered or given up. An id is unique in its thread only: `groupId` tells which.
   * @throws Error after `timeoutMs`, 4,000 unless told.
   */
  waitForDelivery(id: string, { groupId, timeoutMs = PATIENCE_MS }: DeliveryWait = {}): Promise<ToolCall> {
    const thread = groupId === undefined ? '' : ` in "${groupId}"`;
    return callWithin(this, timeoutMs, {
      what: `the delivery of the call "${id}"${thread}`,
      filter: ({ addressee }) =>
        addressee?.id === id && (groupId === undefined || addressee.group_id === groupId),
      ready: call => OVER.has(toolCallState(call)),
    });
  }

  /** Begins anew: counts and states of one key, or everything there is, journal and verification included. */
  reset(key?: string): void {
    this.workshop.reset(key);
  }

  /** How many calls the runs before left to go on with. */
  get resumed(): number {
    return this.kept?.recovery.calls.length ?? 0;
  }

  /** Why the durable journal does not hold everything; null where it does, or there is none. */
  get journalFailure(): Error | null {
    return this.kept?.journal.failure ?? null;
  }

  /**
   * Fires what a call waits for: an event on demand, a consent, the default of a choice. All that wait where no id is given, and
   * in every thread where none is.
   */
  fire(id?: string, groupId?: string): number {
    return this.workshop.desk.demands.fire(id, groupId);
  }

  /** Sends the last callback of a call once more: the same bytes. False where there is none any more. */
  redeliver(key: string): boolean {
    return this.workshop.redeliver(key);
  }

  /** Holds deliveries back, until {@link resume}. */
  pause(): void {
    this.workshop.desk.outbox.pause();
  }

  resume(): void {
    this.workshop.desk.outbox.resume();
  }

  /** Answers by other fixtures from the next call on. @throws ProtocolCliError as {@link start}. */
  async replaceFixtures(source: FixtureSource): Promise<void> {
    const fixtures = await fixturesFrom(source);
    await requireSound(toolsetOf(fixtures, this.options.handlers ?? []));
    this.workshop.replaceFixtures(fixtures);
  }

  /** What was unused, unmatched, undelivered or other than expected, so far. */
  verify(): VerificationReport {
    return this.workshop.verification.report();
  }

  /**
   * Waits until no call is open and no callback is on its way, then returns what {@link verify} returns. After `timeoutMs`, 4,000
   * by default, it returns at once: what is still pending then is reported as undelivered.
   */
  async verified({ timeoutMs = PATIENCE_MS } = {}): Promise<VerificationReport> {
    await this.workshop.settled(timeoutMs);
    return this.verify();
  }

  /** Whatever is pending is sent at once, for at most `drainMs`; then everything ends. */
  close({ drainMs = this.options.drainMs ?? DEFAULTS.drainMs } = {}): Promise<void> {
    this.#closed ??= this.#close(drainMs);
    return this.#closed;
  }

  async #close(drainMs: number): Promise<void> {
    const unheard = this.server.close();
    await this.workshop.drain(drainMs);
    await this.release();
    await unheard;
    await this.kept?.journal.close();
    this.workshop.stop(); // the journal has its last line: what is called off now, the next run goes on with
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** One that was refused may come again. */
const OVER: ReadonlySet<ToolCallState> = new Set(['delivered', 'undelivered', 'silent']);

async function readOptions(given: StartMockToolOptions): Promise<MockToolOptions> {
  if (!isRecord(given))
    throw new ProtocolCliError('usage', 'startMockTool takes an object', {
      hint: "For example: startMockTool({ fixtures: 'fixtures.yaml' })",
    });
  const { fixtures, ...options }: StartMockToolOptions = given;
  if (options.handlers !== undefined && !Array.isArray(options.handlers))
    throw new ProtocolCliError('usage', 'handlers must be a list', {
      hint: 'For example: startMockTool({ handlers: [defineTool({ … })] })',
    });
  return fixtures === undefined ? options : { ...options, fixtures: await fixturesFrom(fixtures) };
}

/** From here on nothing is acknowledged that is not in the journal. */
async function keepJournal(
  { path, sync = false }: NonNullable<MockToolOptions['journal']>,
  about: { readonly workshop: Workshop; readonly startedAt: string; readonly options: MockToolOptions },
) {
  const { workshop, startedAt, options } = about;
  const { openJournal } = await import('./journal/durable.js');
  const { journal, recovery } = await openJournal({
    path,
    sync,
    startedAt,
    program: options.program ?? 'protocol-cli',
  });
  workshop.keepJournal(journal, recovery);
  if (recovery.tornBytes > 0)
    workshop.log.emit({ kind: 'warned', message: `the last line of ${path} was cut off, and is gone` });
  for (const message of damageWarnings(path, recovery.damaged))
    workshop.log.emit({ kind: 'warned', message });
  return { journal, recovery };
}

const MOST_DAMAGE_WARNINGS = 20;

function damageWarnings(path: string, damaged: Recovery['damaged']): readonly string[] {
  const warnings = damaged
    .slice(0, MOST_DAMAGE_WARNINGS)
    .map(({ number, held }) => `${path}:${number}: this line is damaged and was skipped; it held ${held}`);
  const more = damaged.length - warnings.length;
  return more > 0 ? [...warnings, `${path}: ${more} more damaged lines were skipped`] : warnings;
}

async function agentClient(): Promise<HttpClient> {
  return (await import('../transport/agent-client.js')).createAgentClient();
}

/** See {@link MockTool.start}. */
export const startMockTool = MockTool.start;
