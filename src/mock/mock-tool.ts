import type { Event } from '../events/events.js';
import type { Listener } from '../events/log.js';
import { type ToolCall, type ToolCallState, ToolCalls, toolCallState } from '../events/tool-call.js';
import type { VerificationReport } from '../events/verification-report.js';
import { type HttpClient, lazyClient } from '../http/client.js';
import { type RunningServer, startServer } from '../http/server.js';
import { systemClock } from '../system/clock.js';
import { ProtocolCliError } from '../util/errors.js';
import { didYouMean } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { DEFAULTS } from './defaults.js';
import { type FixtureSource, fixturesFrom } from './fixture-files.js';
import { Intake } from './intake.js';
import type { Journal } from './journal/journal.js';
import type { Recovery } from './journal/recovery.js';
import { JournalReports } from './journal/report.js';
import { resume } from './journal/resume.js';
import { MockState, type MockToolOptions, refusalText } from './mock-state.js';
import { requireValidToolset, type ToolsetFields } from './responder.js';
import { adminRoutes, protocolRoutes } from './routes.js';

/** An operation, or a predicate. */
type CallFilter = string | ((call: ToolCall) => boolean);

/** Which call to wait for. */
interface AwaitedCall {
  /** For the error: `a call of "search"`. */
  readonly what: string;
  readonly filter?: CallFilter | undefined;
  readonly isReady?: (call: ToolCall) => boolean;
}

/** Below the default timeout of test runners, so that our message is the one that is shown. */
const WAIT_MS = 4_000;

/** States in which a call is over. A refused one may come again. */
const OVER: ReadonlySet<ToolCallState> = new Set(['delivered', 'undelivered', 'silent']);

function lastCalls(calls: readonly ToolCall[]): string {
  if (calls.length === 0) return 'no call was received';
  const named = calls.slice(-5).map(call => {
    const details = [call.addressee?.id, toolCallState(call)].join(', ');
    return `${call.invocation?.operation ?? 'malformed call'} (${details})`;
  });
  return `the last calls: ${named.join(', ')}`;
}

/** Which call, and how long. */
export interface DeliveryWait {
  readonly groupId?: string;
  readonly timeoutMs?: number;
}

/** Everything that `startMockTool` takes. */
export interface StartMockToolOptions extends Omit<MockToolOptions, 'fixtures'> {
  readonly fixtures?: FixtureSource;
}

/** A running mock tool. */
export class MockTool implements AsyncDisposable {
  #closed: Promise<void> | undefined;

  private constructor(
    private readonly state: MockState,
    private readonly server: RunningServer,
    private readonly options: MockToolOptions,
    private readonly kept: { readonly journal: Journal; readonly recovery: Recovery } | null,
    private readonly stop: () => void,
  ) {}

  /**
   * Serves fixtures, handlers, or both.
   * @throws ProtocolCliError `usage`, `unreadable-file`, `invalid-fixtures`, `invalid-toolset`, `port-in-use`; for a journal `unwritable-file`.
   */
  static async start(given: StartMockToolOptions): Promise<MockTool> {
    const options = await readOptions(given);
    await requireValidToolset(options.fixtures, options.handlers);
    const client = lazyClient(options.client ?? agentClient);
    const state = new MockState(options, client);
    let stop = () => {};
    const stopped = new Promise<void>(resolve => {
      stop = resolve;
    });
    const startedAt = (options.clock ?? systemClock).wall().toISOString();
    const kept = options.journal ? await keepJournal(options, state, startedAt) : null;
    const server = await serve(state, options, startedAt, stopped).catch(async error => {
      await kept?.journal.close();
      throw error;
    });
    for (const call of kept?.recovery.calls ?? []) void resume(call, state, server.url);
    return new MockTool(state, server, options, kept, stop);
  }

  /** All that is drawn comes from it. */
  get seed(): string {
    return this.state.seed;
  }

  get port(): number {
    return this.server.port;
  }

  get url(): string {
    return this.server.url;
  }

  /** What it offers at the moment. */
  get toolset(): ToolsetFields {
    return this.state.responder.toolset;
  }

  /** The calls that are remembered, oldest first. */
  calls(): readonly ToolCall[] {
    return ToolCalls.of(this.events).list;
  }

  /** The events that are remembered, oldest first. */
  get events(): readonly Event[] {
    return this.state.ring.events;
  }

  /** How many events were forgotten. */
  get forgotten(): number {
    return this.state.ring.forgotten;
  }

  /** Calls the listener for every event from now on. Returns how to stop. */
  subscribe(listener: Listener): () => void {
    return this.state.log.subscribe(listener);
  }

  /**
   * A call that was received, or the next one: by operation or by filter.
   * @throws Error after `timeoutMs` (default 4,000); at once for an unknown operation.
   */
  async waitForCall(filter?: CallFilter, { timeoutMs = WAIT_MS } = {}): Promise<ToolCall> {
    if (typeof filter !== 'string')
      return this.#callWithin(timeoutMs, {
        what: filter ? 'a call that passes the filter' : 'a call',
        filter,
      });
    const offered = this.toolset.tools.map(({ name }) => name);
    if (!offered.includes(filter)) {
      const meant = didYouMean(filter, offered) || `Available: ${offered.join(', ')}.`;
      throw new Error(`unknown operation "${filter}". ${meant} Use a filter function to wait for any call.`);
    }
    return this.#callWithin(timeoutMs, { what: `a call of "${filter}"`, filter });
  }

  /**
   * The call with this `id`, once its result was delivered or given up. An id is unique in its thread only; see `groupId`.
   * @throws Error after `timeoutMs` (default 4,000).
   */
  waitForDelivery(id: string, { groupId, timeoutMs = WAIT_MS }: DeliveryWait = {}): Promise<ToolCall> {
    const thread = groupId === undefined ? '' : ` in "${groupId}"`;
    return this.#callWithin(timeoutMs, {
      what: `the delivery of the call "${id}"${thread}`,
      filter: ({ addressee }) =>
        addressee?.id === id && (groupId ?? addressee.group_id) === addressee.group_id,
      isReady: call => OVER.has(toolCallState(call)),
    });
  }

  /** Forgets counts and states of one key, or everything, journal and verification included. */
  reset(key?: string): void {
    this.state.reset(key);
  }

  /** How many calls the runs before left to go on with. */
  get resumed(): number {
    return this.kept?.recovery.calls.length ?? 0;
  }

  /** Why the durable journal is incomplete, or null. */
  get journalFailure(): Error | null {
    return this.kept?.journal.failure ?? null;
  }

  /**
   * Fires what a call waits for: an event on demand, a consent, the default of a choice. All that wait where no id is given, and
   * in every thread where none is.
   */
  fire(id?: string, groupId?: string): number {
    return this.state.services.triggers.fire(id, groupId);
  }

  /** Sends the last callback of a call again, the same bytes. Returns false if it is not remembered. */
  redeliver(key: string): boolean {
    return this.state.redeliver(key);
  }

  /** Holds deliveries back, until {@link resume}. */
  pause(): void {
    this.state.services.outbox.pause();
  }

  resume(): void {
    this.state.services.outbox.resume();
  }

  /** Answers by other fixtures from the next call on. @throws ProtocolCliError as {@link start}. */
  async replaceFixtures(source: FixtureSource): Promise<void> {
    const fixtures = await fixturesFrom(source);
    await requireValidToolset(fixtures, this.options.handlers);
    this.state.responder.replaceFixtures(fixtures);
  }

  /** What was unused, unmatched, undelivered or other than expected, so far. */
  verify(): VerificationReport {
    return this.state.responder.verification.report();
  }

  /**
   * Waits until no call is open and no callback is on its way, then returns what {@link verify} returns. After `timeoutMs`, 4,000
   * by default, it returns at once: what is still pending then is reported as undelivered.
   */
  async verified({ timeoutMs = WAIT_MS } = {}): Promise<VerificationReport> {
    await this.state.settled(timeoutMs);
    return this.verify();
  }

  /** Whatever is pending is sent at once, for at most `drainMs`; then everything ends. */
  close({ drainMs = this.options.drainMs ?? DEFAULTS.drainMs } = {}): Promise<void> {
    this.#closed ??= this.#close(drainMs);
    return this.#closed;
  }

  async #close(drainMs: number): Promise<void> {
    const closing = this.server.close();
    await this.state.drain(drainMs);
    this.stop();
    await closing;
    await this.kept?.journal.close();
    this.state.openCalls.stop(); // the journal has its last line: what is canceled now, the next run goes on with
  }

  /** The first call, received or still to come, that passes the filter and is ready. @throws Error with the last calls. */
  #callWithin(
    timeoutMs: number,
    { what, filter = () => true, isReady = () => true }: AwaitedCall,
  ): Promise<ToolCall> {
    const passes =
      typeof filter === 'string' ? (call: ToolCall) => call.invocation?.operation === filter : filter;
    const fits = (call: ToolCall | undefined): call is ToolCall => !!call && passes(call) && isReady(call);
    const calls = ToolCalls.of(this.events);
    const there = calls.list.find(fits);
    if (there) return Promise.resolve(there);
    return new Promise((resolve, reject) => {
      const unsubscribe = this.subscribe(event => {
        calls.apply(event);
        const call = event.calls?.map(key => calls.get(key)).find(fits);
        if (!call) return;
        clearTimeout(timer);
        unsubscribe();
        resolve(call);
      });
      const timer = setTimeout(() => {
        unsubscribe();
        reject(new Error(`timed out after ${timeoutMs} ms waiting for ${what}; ${lastCalls(calls.list)}`));
      }, timeoutMs);
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

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

/** Opens the server of a mock tool. @throws ProtocolCliError `port-in-use`, `usage`. */
function serve(
  state: MockState,
  options: MockToolOptions,
  startedAt: string,
  stopped: Promise<void>,
): Promise<RunningServer> {
  const { host, port, allowHosts = [], maxBody = DEFAULTS.maxBody, program = 'protocol-cli' } = options;
  const intake = new Intake(state, options.allowRepeats ?? false, stopped);
  const admin = adminRoutes({
    journal: new JournalReports(state.ring, { startedAt, program }),
    reset: key => state.reset(key),
    fire: (id, thread) => state.services.triggers.fire(id, thread),
  });
  return startServer({
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    allowedHosts: allowHosts,
    maxBody,
    explains: true,
    routes: [...protocolRoutes(state, intake.receive), ...admin],
    onRefused: refusal => state.log.emit({ kind: 'warned', message: refusalText(refusal) }),
  });
}

/** From here on nothing is acknowledged that is not in the journal. */
async function keepJournal(
  { journal: file, program = 'protocol-cli' }: MockToolOptions,
  state: MockState,
  startedAt: string,
) {
  const { path = '', sync = false } = file ?? {};
  const { openJournal } = await import('./journal/journal.js');
  const { journal, recovery } = await openJournal({ path, sync, startedAt, program });
  state.keepJournal(journal, recovery);
  if (recovery.tornBytes > 0)
    state.log.emit({ kind: 'warned', message: `the last line of ${path} was incomplete and was removed` });
  for (const message of damageWarnings(path, recovery.damaged)) state.log.emit({ kind: 'warned', message });
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
  return (await import('../http/pooled-client.js')).createAgentClient();
}

/** See {@link MockTool.start}. */
export const startMockTool = MockTool.start;
