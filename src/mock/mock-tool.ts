import { fileURLToPath } from 'node:url';
import type { Event } from '../events/events.js';
import type { Listener } from '../events/log.js';
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
import type { RunningServer } from '../http/server.js';
import { finishedWithin } from '../system/clock.js';
import { messageOf, ProtocolCliError } from '../util/errors.js';
import { didYouMean } from '../util/text.js';
import { isRecord } from '../util/values.js';
import type { VerificationReport } from '../verification/report.js';
import { Intake } from './intake.js';
import { type CloseOptions, DEFAULTS, Mock, type MockOptions } from './mock.js';
import { Outbox } from './outbox.js';
import { RapQuestions } from './rap-wire.js';
import { prepareToolset, type ToolsetFields } from './responder.js';
import { rapRoutes } from './routes.js';
import { type ServerOptions, serveMock } from './serve.js';
import { fixtureFiles, readFixtureFiles } from './sources.js';

/** All options of a mock tool; fixtures or handlers are required. */
export interface MockToolOptions extends MockOptions, ServerOptions {
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

/** Which call is meant: the name of its operation, or a function that returns whether it is the one. */
export type CallFilter = string | ((call: ToolCall) => boolean);

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

/** How long to wait. */
export interface WaitOptions {
  /** In ms. Default: 4,000. */
  readonly timeoutMs?: number;
}

/** Whose delivery to wait for, and how long. */
export interface DeliveryWait extends WaitOptions {
  readonly groupId?: string;
}

export type FixtureSource =
  /** Paths of fixture files or folders. */
  | string
  | URL
  | readonly (string | URL)[]
  /** The result of `readFixtures` or `parseFixtures`, or the content of a fixture file; any other object is an error. */
  | object;

export interface StartMockToolOptions extends Omit<MockToolOptions, 'fixtures'> {
  readonly fixtures?: FixtureSource;
}

/** Serves fixtures and handlers over RAP. */
export class MockTool implements AsyncDisposable {
  #closed: Promise<void> | undefined;

  private constructor(
    private readonly mock: Mock,
    private readonly intake: Intake,
    private readonly outbox: Outbox,
    private readonly server: RunningServer,
  ) {}

  /**
   * Serves fixtures, handlers, or both.
   * @throws ProtocolCliError `usage`, `unreadable-file`, `invalid-fixtures`, `invalid-toolset`, `port-in-use`.
   */
  static async start(given: StartMockToolOptions): Promise<MockTool> {
    const options = await readOptions(given);
    const { keep = DEFAULTS.keep, allowCallbacks = [], allowRepeats = false } = options;
    const checkers = await prepareToolset(options.fixtures, options.handlers);
    const client = await (options.client ?? agentClient)();
    const mock = new Mock(options, checkers);
    const { log, clock } = mock;
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
    const questions = new RapQuestions();
    const remembered = Math.max(DEFAULTS.keep, keep) / 2; // a call has two events at least
    const intake = new Intake(mock, outbox, questions, { remembered, allowRepeats });
    const server = await serveMock(mock, options, {
      routes: rapRoutes(mock, intake, questions),
      reset: key => intake.reset(key),
      refused: (denial, request) => intake.refused(denial, request),
    });
    return new MockTool(mock, intake, outbox, server);
  }

  /** Seed of all random numbers. */
  get seed(): string {
    return this.mock.seed;
  }

  get port(): number {
    return this.server.port;
  }

  get url(): string {
    return this.server.url;
  }

  get toolset(): ToolsetFields {
    return this.mock.toolset;
  }

  /** The remembered events, oldest first. */
  get events(): readonly Event[] {
    return this.mock.events;
  }

  /** Number of events that are not remembered any more. */
  get forgotten(): number {
    return this.mock.forgotten;
  }

  /** Calls the listener for every future event. Returns a function that stops this. */
  subscribe(listener: Listener): () => void {
    return this.mock.subscribe(listener);
  }

  /** The remembered calls, oldest first. */
  calls(): readonly ToolCall[] {
    return ToolCalls.of(this.events).list;
  }

  /**
   * Resolves to a call that was received, or to the next one: by operation or by filter.
   * @throws Error after `timeoutMs` (default 4,000); at once for an unknown operation.
   */
  async waitForCall(filter?: CallFilter, { timeoutMs = WAIT_MS }: WaitOptions = {}): Promise<ToolCall> {
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

  /** Resets the counts and states of one key; without a key everything, including the list of calls and the verification. */
  reset(key?: string): void {
    this.intake.reset(key);
  }

  /**
   * Fires the trigger of a waiting call: an event on demand, a consent, the default of a choice. Without an id it fires all triggers,
   * without a thread those of every thread.
   */
  fire(id?: string, groupId?: string): number {
    return this.mock.fire(id, groupId);
  }

  /** Sends the last callback of a call again with the same bytes. Returns false if it is not remembered. */
  redeliver(key: string): boolean {
    const call = ToolCalls.of(this.events).get(key);
    const last = call?.deliveries.at(-1);
    if (!last?.body) return false;
    const about = { calls: [key], thread: call?.addressee?.group_id ?? '' };
    const type = typeOfDelivery(last) ?? undefined;
    this.outbox
      .post({ about, url: last.url, body: last.body, type })
      .catch(error => this.mock.warn(`a callback was not sent again: ${messageOf(error)}`));
    return true;
  }

  /** Pauses deliveries until {@link resume}. */
  pause(): void {
    this.outbox.pause();
  }

  resume(): void {
    this.outbox.resume();
  }

  /** Replaces the fixtures from the next call on. @throws ProtocolCliError as {@link start}. */
  async replaceFixtures(source: FixtureSource): Promise<void> {
    await this.mock.responder.replaceFixtures(await fixturesFrom(source));
  }

  /** What is unused, unmatched, undelivered or unexpected so far. */
  verify(): VerificationReport {
    return this.mock.verify();
  }

  /**
   * Waits until no call is open and no callback is pending, then returns the result of {@link verify}. After `timeoutMs` (default
   * 4,000) it returns at once and reports what is still pending as undelivered.
   */
  async verified({ timeoutMs = WAIT_MS }: WaitOptions = {}): Promise<VerificationReport> {
    const { clock, log, responder } = this.mock;
    let stop = () => {};
    const settled = new Promise<void>(resolve => {
      const look = () => {
        if (!responder.verification.hasOpenCalls) void this.outbox.idle().then(resolve);
      };
      stop = log.subscribe(look);
      look();
    });
    await finishedWithin(settled, timeoutMs, { clock });
    stop();
    return this.verify();
  }

  /** As {@link verified}, for tests. @throws Error with the problems, unless the report is `ok` */
  async assertVerified(options?: WaitOptions): Promise<void> {
    const { ok, problems } = await this.verified(options);
    if (!ok) throw new Error(['verification of the mock failed', ...problems].join('\n  '));
  }

  /** Sends everything pending at once, for at most `drainMs`, then closes. */
  close({ drainMs = this.mock.drainMs }: CloseOptions = {}): Promise<void> {
    this.#closed ??= this.#end(drainMs);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(drainMs: number): Promise<void> {
    const { mock, outbox } = this;
    const closing = this.server.close();
    outbox.endPauses();
    await mock.drain(drainMs, () => outbox.idle());
    mock.openCalls.stop();
    await outbox.close();
    this.intake.stop();
    await closing;
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
  const { isTranscript } = await import('../events/transcript-reader.js');
  const transcript = files.find(({ text }) => isTranscript(text));
  if (transcript)
    throw new ProtocolCliError('usage', `${transcript.path} is a transcript, and no fixtures`, {
      hint: 'fixturesOfTranscript makes fixtures of it.',
    });
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
  return (await import('../http/pooled-client.js')).createPooledClient();
}

/** See {@link MockTool.start}. */
export const startMockTool = MockTool.start;
