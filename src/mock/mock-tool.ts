import { fileURLToPath } from 'node:url';
import {
  type ToolCall,
  type ToolCallState,
  ToolCalls,
  toolCallState,
  typeOfDelivery,
} from '../events/tool-call.js';
import type { FixtureSet } from '../fixtures/fixture-set.js';
import { allowedDestinations } from '../http/addresses.js';
import type { HttpClient } from '../http/client.js';
import type { Denial, Incoming } from '../http/route.js';
import type { RunningServer } from '../http/server.js';
import { finishedWithin } from '../system/process.js';
import { messageOf, ProtocolCliError } from '../util/errors.js';
import { didYouMean } from '../util/text.js';
import { isRecord } from '../util/values.js';
import type { VerificationReport } from '../verification/verification.js';
import { Intake } from './intake.js';
import { Outbox } from './outbox.js';
import { RapServices } from './rap-wire.js';
import { type ArgumentCheckers, prepareToolset } from './responder.js';
import { rapRoutes } from './routes.js';
import { fixtureFiles, readFixtureFiles } from './sources.js';
import { DEFAULTS, type ServerOptions, Tool, type ToolOptions } from './tool.js';

/** All options of a mock tool; fixtures or handlers are required. */
export interface MockToolOptions extends ToolOptions, ServerOptions {
  /** Origins besides loopback that callbacks may go to. */
  readonly allowCallbacks?: readonly string[];
  /** Maximum number of pending callbacks; more are dropped and reported. */
  readonly maxPending?: number;
  /** Retries of a callback after the first attempt. */
  readonly retries?: number;
  /** Whether repeated invocations are executed again. */
  readonly allowRepeats?: boolean;
  /** Sends callbacks. Default: a client made for throughput. */
  readonly client?: () => Promise<HttpClient>;
}

type CallFilter = string | ((call: ToolCall) => boolean);

/** Below the default timeout of test runners, so that they show our message. */
const WAIT_MS = 4_000;

/** States of a finished call. A refused call may be sent again. */
const OVER: ReadonlySet<ToolCallState> = new Set(['delivered', 'undelivered', 'silent']);

function lastCalls(calls: readonly ToolCall[]): string {
  if (calls.length === 0) return 'no call was received';
  const named = calls.slice(-5).map(call => {
    const details = [call.addressee?.id, toolCallState(call)].join(', ');
    return `${call.invocation?.operation ?? 'malformed call'} (${details})`;
  });
  return `the last calls: ${named.join(', ')}`;
}

export interface DeliveryWait {
  readonly groupId?: string;
  readonly timeoutMs?: number;
}

type FixtureSource =
  /** Paths of fixture files or folders. */
  | string
  | URL
  | readonly (string | URL)[]
  /** The result of `readFixtures` or `parseFixtures`. */
  | FixtureSet
  /** The content of a fixture file. */
  | { readonly version: number; readonly [key: string]: unknown };

export interface StartMockToolOptions extends Omit<MockToolOptions, 'fixtures'> {
  readonly fixtures?: FixtureSource;
}

export class MockTool extends Tool {
  readonly #services: RapServices;
  readonly #intake: Intake;
  #server!: RunningServer;
  #stop: () => void = () => {};
  readonly #stopped = new Promise<void>(resolve => {
    this.#stop = resolve;
  });

  private constructor(options: MockToolOptions, checkers: ArgumentCheckers, client: HttpClient) {
    super(options, checkers);
    const { log, pauses, clock, responder, openCalls } = this;
    const { keep = DEFAULTS.keep, allowCallbacks = [], allowRepeats = false } = options;
    const outbox = new Outbox({
      log,
      client,
      clock,
      random: Math.random,
      destinationProblem: allowedDestinations(allowCallbacks),
      queueLimit: options.maxPending ?? DEFAULTS.maxPending,
      perOrigin: DEFAULTS.perOrigin,
      retries: options.retries ?? DEFAULTS.retries,
      maxPauseMs: DEFAULTS.maxPauseMs,
      timeoutMs: DEFAULTS.attemptMs,
    });
    this.#services = new RapServices(log, pauses, outbox);
    const remembered = Math.max(DEFAULTS.keep, keep) / 2; // a call has two events at least
    const services = this.#services;
    const stopped = this.#stopped;
    this.#intake = new Intake({ responder, openCalls, services, remembered, allowRepeats, stopped });
  }

  /**
   * Serves fixtures, handlers, or both.
   * @throws ProtocolCliError `usage`, `unreadable-file`, `invalid-fixtures`, `invalid-toolset`, `port-in-use`.
   */
  static async start(given: StartMockToolOptions): Promise<MockTool> {
    const options = await readOptions(given);
    const checkers = await prepareToolset(options.fixtures, options.handlers);
    const tool = new MockTool(options, checkers, await (options.client ?? agentClient)());
    await tool.#open(options);
    return tool;
  }

  get port(): number {
    return this.#server.port;
  }

  get url(): string {
    return this.#server.url;
  }

  /** The remembered calls, oldest first. */
  calls(): readonly ToolCall[] {
    return ToolCalls.of(this.events).list;
  }

  /**
   * Resolves to a call that was received, or to the next one: by operation or by filter.
   * @throws Error after `timeoutMs` (default 4,000); at once for an unknown operation.
   */
  async waitForCall(filter?: CallFilter, { timeoutMs = WAIT_MS } = {}): Promise<ToolCall> {
    if (typeof filter !== 'string')
      return this.#callWithin(
        timeoutMs,
        filter ? 'a call that passes the filter' : 'a call',
        filter ?? (() => true),
      );
    const offered = this.toolset.tools.map(({ name }) => name);
    if (offered.length > 0 && !offered.includes(filter)) {
      const meant = didYouMean(filter, offered) || `Available: ${offered.join(', ')}.`;
      throw new Error(`unknown operation "${filter}". ${meant} Use a filter function to wait for any call.`);
    }
    const isMeant = ({ invocation }: ToolCall) => invocation?.operation === filter;
    return this.#callWithin(timeoutMs, `a call of "${filter}"`, isMeant);
  }

  /**
   * Resolves to the call with this `id` once its result was delivered or dropped. An id is unique in its thread only; see `groupId`.
   * @throws Error after `timeoutMs` (default 4,000).
   */
  waitForDelivery(id: string, { groupId, timeoutMs = WAIT_MS }: DeliveryWait = {}): Promise<ToolCall> {
    const thread = groupId === undefined ? '' : ` in "${groupId}"`;
    const isMeant = ({ addressee }: ToolCall) =>
      addressee?.id === id && (groupId ?? addressee.group_id) === addressee.group_id;
    const what = `the delivery of the call "${id}"${thread}`;
    return this.#callWithin(timeoutMs, what, call => isMeant(call) && OVER.has(toolCallState(call)));
  }

  override reset(key?: string): void {
    super.reset(key);
    if (key === undefined) this.#intake.reset();
  }

  /** Sends the last callback of a call again with the same bytes. Returns false if it is not remembered. */
  redeliver(key: string): boolean {
    const call = ToolCalls.of(this.events).get(key);
    const last = call?.deliveries.at(-1);
    if (!last?.body) return false;
    const about = { calls: [key], thread: call?.addressee?.group_id ?? '' };
    const type = typeOfDelivery(last) ?? undefined;
    this.#services.outbox
      .post({ about, url: last.url, body: last.body, type })
      .catch(error => this.warn(`a callback was not sent again: ${messageOf(error)}`));
    return true;
  }

  /** Pauses deliveries until {@link resume}. */
  pause(): void {
    this.#services.outbox.pause();
  }

  resume(): void {
    this.#services.outbox.resume();
  }

  /** Replaces the fixtures from the next call on. @throws ProtocolCliError as {@link start}. */
  async replaceFixtures(source: FixtureSource): Promise<void> {
    await this.responder.replaceFixtures(await fixturesFrom(source));
  }

  /**
   * Waits until no call is open and no callback is pending, then returns the result of {@link verify}. After `timeoutMs` (default
   * 4,000) it returns at once and reports what is still pending as undelivered.
   */
  async verified({ timeoutMs = WAIT_MS } = {}): Promise<VerificationReport> {
    let stop = () => {};
    const settled = new Promise<void>(resolve => {
      const look = () => {
        if (!this.responder.verification.hasOpenCalls) void this.#services.outbox.idle().then(resolve);
      };
      stop = this.log.subscribe(look);
      look();
    });
    await finishedWithin(settled, timeoutMs, { clock: this.clock });
    stop();
    return this.verify();
  }

  /** An invocation that was refused for its head alone is logged as a message too. */
  protected override refused(denial: Denial, request: Incoming): void {
    super.refused(denial, request);
    this.#intake.refused(denial, request);
  }

  protected override async end(drainMs: number): Promise<void> {
    const { outbox } = this.#services;
    const closing = this.#server.close();
    outbox.endPauses();
    await this.drain(drainMs, () => outbox.idle());
    this.openCalls.stop();
    await outbox.close();
    this.#stop();
    await closing;
  }

  async #open(options: MockToolOptions): Promise<void> {
    this.#server = await this.serve(options, rapRoutes(this.#intake, this.#services, this.responder));
  }

  /** Resolves to the first call, received or future, that fits. @throws Error with the last calls. */
  #callWithin(timeoutMs: number, what: string, isMeant: (call: ToolCall) => boolean): Promise<ToolCall> {
    const fits = (call: ToolCall | undefined): call is ToolCall => call !== undefined && isMeant(call);
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

/** @throws ProtocolCliError `usage` for any other type; `unreadable-file`; `invalid-fixtures`, with every error. */
async function fixturesFrom(source: FixtureSource): Promise<FixtureSet> {
  if (isFixtureSet(source)) return source;
  if (isRecord(source) && !(source instanceof URL || source instanceof Promise))
    return (await import('../fixtures/read-fixtures.js')).parseFixtures(source);
  const list: readonly unknown[] = Array.isArray(source) ? source : [source];
  const paths = list.flatMap(path =>
    path instanceof URL ? [fileURLToPath(path)] : typeof path === 'string' ? [path] : [],
  );
  if (paths.length === 0 || paths.length < list.length) throw wrongSource(source);
  const files = await readFixtureFiles(await fixtureFiles(paths));
  const { readFixtures } = await import('../fixtures/read-fixtures.js');
  return readFixtures(files);
}

/** Parsed fixtures have no version, but a place each. */
function isFixtureSet(source: unknown): source is FixtureSet {
  if (!isRecord(source) || 'version' in source) return false;
  const { toolset, middleware, fixtures } = source;
  const isPlaced = (each: unknown) => isRecord(each) && typeof each['place'] === 'string';
  return isRecord(toolset) && isRecord(middleware) && Array.isArray(fixtures) && fixtures.every(isPlaced);
}

function wrongSource(source: unknown): ProtocolCliError {
  const hint =
    source instanceof Promise
      ? 'This is a promise; await it.'
      : "For example: startMockTool({ fixtures: 'fixtures.yaml' })";
  return new ProtocolCliError('usage', 'fixtures must be a path, a list of paths, or fixtures', { hint });
}

async function agentClient(): Promise<HttpClient> {
  return (await import('../http/pooled-client.js')).createAgentClient();
}

/** See {@link MockTool.start}. */
export const startMockTool = MockTool.start;
