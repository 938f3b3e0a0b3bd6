import { randomBytes } from 'node:crypto';
import type { Event } from '../events/events.js';
import { createLog, type Listener, type Log } from '../events/log.js';
import { type ToolCall, type ToolCallState, toolCallState } from '../events/tool-call.js';
import { ToolCalls } from '../events/tool-calls.js';
import type { VerificationReport } from '../events/verification-report.js';
import { allowedDestinations } from '../http/addresses.js';
import { type HttpClient, lazyClient } from '../http/client.js';
import type { Route } from '../http/request-body.js';
import { type RunningServer, startServer } from '../http/server.js';
import { systemClock } from '../system/drafts.js';
import { ProtocolCliError } from '../util/errors.js';
import { isRecord } from '../util/json-diagnosis.js';
import { didYouMean } from '../util/nearest.js';
import { DEFAULTS } from './defaults.js';
import { type FixtureSource, fixturesFrom } from './fixture-files.js';
import { Intake } from './intake.js';
import type { Journal } from './journal/journal-file.js';
import type { Recovery } from './journal/recovery.js';
import { JournalReports } from './journal/report.js';
import { MockState, type MockToolOptions, NO_FIXTURES, refusalText } from './mock-state.js';
import { Outbox } from './outbox.js';
import type { RapServices } from './rap-conversation.js';
import { ManualTriggers, Pauses, Questions } from './reply-waits.js';
import {
  adminRoutes,
  CHOICE_PREFIX,
  CONSENT_PREFIX,
  choiceRoute,
  consentRoutes,
  discoveryRoute,
  INVOKE_PATH,
  noticeRoutes,
  post,
} from './routes.js';
import { requireValidToolset, type ToolsetFields, toolsetOf } from './toolset.js';

/** The name of an operation, or a question. */
type CallFilter = string | ((call: ToolCall) => boolean);

/** A call that is waited for. */
interface Awaited {
  /** For the error: `a call of "search"`. */
  readonly what: string;
  readonly filter?: CallFilter | undefined;
  readonly ready?: (call: ToolCall) => boolean;
}

/** Less than test runners allow a test by default, so that what this says is what is read. */
const PATIENCE_MS = 4_000;

interface Observed {
  readonly events: readonly Event[];
  subscribe(listener: Listener): () => void;
}

/** @throws Error for the name of an operation that is not among those that are offered, with the one that was probably meant. */
export function requireOffered(name: string, offered: readonly string[]): void {
  if (offered.includes(name)) return;
  const meant = didYouMean(name, offered) || `Available: ${offered.join(', ')}.`;
  throw new Error(`unknown operation "${name}". ${meant} Use a filter function to wait for any call.`);
}

/**
 * The first call, come or still to come, that passes `filter` and is `ready`.
 * @throws Error after `timeoutMs`, with the last calls.
 */
export function callWithin(
  observed: Observed,
  timeoutMs: number,
  { what, filter = () => true, ready = () => true }: Awaited,
): Promise<ToolCall> {
  const isIt =
    typeof filter === 'string' ? (call: ToolCall) => call.invocation?.operation === filter : filter;
  const calls = ToolCalls.of(observed.events);
  const there = calls.list.find(call => isIt(call) && ready(call));
  if (there) return Promise.resolve(there);
  return new Promise((resolve, reject) => {
    const stop = observed.subscribe(event => {
      calls.apply(event);
      const call = event.calls?.map(key => calls.get(key)).find(each => each && isIt(each) && ready(each));
      if (!call) return;
      clearTimeout(timer);
      stop();
      resolve(call);
    });
    const timer = setTimeout(() => {
      stop();
      reject(new Error(`timed out after ${timeoutMs} ms waiting for ${what}; ${whatCame(calls.list)}`));
    }, timeoutMs);
  });
}

function whatCame(calls: readonly ToolCall[]): string {
  if (calls.length === 0) return 'no call was received';
  const named = calls
    .slice(-5)
    .map(
      call =>
        `${call.invocation?.operation ?? 'malformed call'} (${[call.addressee?.id, toolCallState(call)].join(', ')})`,
    );
  return `the last calls: ${named.join(', ')}`;
}

/** @throws ProtocolCliError `usage` for an invalid origin. */
export function servicesOf(log: Log, client: HttpClient, options: MockToolOptions): RapServices {
  const { clock = systemClock, allowCallbacks = [], maxPending, retries } = options;
  return {
    log,
    outbox: new Outbox({
      log,
      client,
      clock,
      random: Math.random,
      allows: allowedDestinations(allowCallbacks),
      queueLimit: maxPending ?? DEFAULTS.maxPending,
      queueBytes: DEFAULTS.maxPendingBytes,
      perOrigin: DEFAULTS.perOrigin,
      retries: retries ?? DEFAULTS.retries,
      maxPauseMs: DEFAULTS.maxPauseMs,
      timeoutMs: DEFAULTS.attemptMs,
    }),
    pauses: new Pauses(clock),
    triggers: new ManualTriggers(),
    choices: new Questions(CHOICE_PREFIX),
    consents: new Questions(CONSENT_PREFIX),
  };
}

interface Serving {
  readonly state: MockState;
  readonly options: MockToolOptions;
  /** RFC 3339. */
  readonly startedAt: string;
  /** Resolves when the tool stops. */
  readonly stopped: Promise<void>;
}

/** Opens the server of a mock tool. @throws ProtocolCliError `port-in-use`, `usage`. */
function serve(serving: Serving): Promise<RunningServer> {
  const { host, port, allowHosts = [], maxBody = DEFAULTS.maxBody } = serving.options;
  return startServer({
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    allowedHosts: allowHosts,
    maxBody,
    explains: true,
    routes: routesOf(serving),
    onRefused: refusal => serving.state.log.emit({ kind: 'warned', message: refusalText(refusal) }),
  });
}

function routesOf({ state, options, startedAt, stopped }: Serving): Route[] {
  const { log, services, repeats, openCalls, ring } = state;
  const { allowRepeats = false } = options;
  const intake = new Intake({
    services,
    repeats,
    openCalls,
    allowRepeats,
    stopped,
    answers: () => state.answers,
  });
  return [
    post(INVOKE_PATH, intake.receive),
    discoveryRoute(log, () => state.toolset),
    ...noticeRoutes({
      log,
      cancel: (thread, id) => state.cancel(thread, id),
      closeThread: thread => state.closeThread(thread),
      needsMigration: () => state.toolset.needsMigration,
    }),
    choiceRoute(log, services.choices),
    ...consentRoutes(log, services.consents, () => state.toolset.name),
    ...adminRoutes({
      journal: new JournalReports(ring, { startedAt, program: options.program ?? 'protocol-cli' }),
      reset: key => state.reset(key),
      fire: (id, thread) => services.triggers.fire(id, thread),
    }),
  ];
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
    private readonly release: () => Promise<void>,
  ) {}

  /**
   * Serves fixtures, handlers, or both.
   * @throws ProtocolCliError `usage`, `unreadable-file`, `invalid-fixtures`, `invalid-toolset`, `port-in-use`; for a journal `unwritable-file`.
   */
  static async start(given: StartMockToolOptions): Promise<MockTool> {
    const options = await readOptions(given);
    const { fixtures = NO_FIXTURES, handlers = [], clock = systemClock } = options;
    await requireValidToolset(toolsetOf(fixtures, handlers));
    const log = createLog(() => clock.now());
    const client = lazyClient(options.client ?? agentClient);
    const seed = options.seed ?? randomBytes(4).toString('hex');
    const state = new MockState(options, seed, log, servicesOf(log, client, options));
    let stop = () => {};
    const stopped = new Promise<void>(resolve => {
      stop = resolve;
    });
    const startedAt = clock.wall().toISOString();
    const kept = options.journal ? await keepJournal(options.journal, state, startedAt, options) : null;
    const server = await serve({ state, options, startedAt, stopped }).catch(async error => {
      await kept?.journal.close();
      throw error;
    });
    if (kept) state.resume(kept.recovery, server.url);
    const release = async () => {
      stop();
      await client.close();
    };
    return new MockTool(state, server, options, kept, release);
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
    return this.state.toolset;
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
    return this.state.services.log.subscribe(listener);
  }

  /**
   * A call that was received, or the next one: by operation or by filter.
   * @throws Error after `timeoutMs` (default 4,000); at once for an unknown operation.
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
   * The call with this `id`, once its result was delivered or given up. An id is unique in its thread only; see `groupId`.
   * @throws Error after `timeoutMs` (default 4,000).
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
    await requireValidToolset(toolsetOf(fixtures, this.options.handlers ?? []));
    this.state.replaceFixtures(fixtures);
  }

  /** What was unused, unmatched, undelivered or other than expected, so far. */
  verify(): VerificationReport {
    return this.state.verification.report();
  }

  /**
   * Waits until no call is open and no callback is on its way, then returns what {@link verify} returns. After `timeoutMs`, 4,000
   * by default, it returns at once: what is still pending then is reported as undelivered.
   */
  async verified({ timeoutMs = PATIENCE_MS } = {}): Promise<VerificationReport> {
    await this.state.settled(timeoutMs);
    return this.verify();
  }

  /** Whatever is pending is sent at once, for at most `drainMs`; then everything ends. */
  close({ drainMs = this.options.drainMs ?? DEFAULTS.drainMs } = {}): Promise<void> {
    this.#closed ??= this.#close(drainMs);
    return this.#closed;
  }

  async #close(drainMs: number): Promise<void> {
    const unheard = this.server.close();
    await this.state.drain(drainMs);
    await this.release();
    await unheard;
    await this.kept?.journal.close();
    this.state.stop(); // the journal has its last line: what is called off now, the next run goes on with
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
  state: MockState,
  startedAt: string,
  { program = 'protocol-cli' }: MockToolOptions,
) {
  const { openJournal } = await import('./journal/journal-file.js');
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
