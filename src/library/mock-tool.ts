import type { Event } from '../events/events.js';
import type { ToolCall } from '../events/tool-call.js';
import type { RecordedFile } from '../fixtures/read-fixtures.js';
import type { ToolDefinition } from '../mock/handlers.js';
import type { Middleware } from '../mock/middleware.js';
import type { CloseOptions } from '../mock/mock.js';
import {
  type CallFilter,
  type DeliveryWait,
  startMockTool as start,
  type WaitOptions,
} from '../mock/mock-tool.js';
import type { Rate, ToolsetFields } from '../mock/responder.js';
import type { VerificationReport } from '../verification/report.js';
import type { FixtureSet } from './fixtures.js';
import { withFullMessage } from './full-message.js';

/** Fixtures: paths of files or folders, the result of `readFixtures` or `parseFixtures`, or the content of a fixture file. */
export type FixtureSource =
  | string
  | URL
  | readonly (string | URL)[]
  | FixtureSet
  | RecordedFile
  | { readonly version: number; readonly [key: string]: unknown };

/**
 * What a mock tool serves, and where; fixtures or handlers are required.
 * @example
 * const options: MockToolOptions = { fixtures: 'fixtures.yaml', seed: '1', port: 3001 };
 */
export interface MockToolOptions {
  readonly fixtures?: FixtureSource;
  /** Operations in code; they take precedence over fixture operations of the same name. */
  readonly handlers?: readonly ToolDefinition[];
  readonly middleware?: readonly Middleware[];
  /** More calls than this are answered with an error result. */
  readonly rateLimit?: Rate;
  /** Seed of all random numbers. Default: random. */
  readonly seed?: string;
  /** Number of events to remember. Default: 10,000. */
  readonly keep?: number;
  /** How long `close()` waits for pending work, in ms. Default: 5,000. */
  readonly drainMs?: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** The path below which everything is served, such as `/a1b2`; requests elsewhere are answered 404. Default: none. */
  readonly basePath?: string;
  /** Host names besides loopback that requests may use. */
  readonly allowHosts?: readonly string[];
  /** Maximum size of an invocation, in bytes. Default: 10 MiB. */
  readonly maxBody?: number;
  /** Name and version of the program, for transcripts: `my-tests/1.0`. */
  readonly program?: string;
  /** Origins besides loopback that callbacks may go to. */
  readonly allowCallbacks?: readonly string[];
  /** Maximum number of pending callbacks; more are dropped and reported. Default: 10,000. */
  readonly maxPending?: number;
  /** Retries of a callback after the first attempt. Default: 5. */
  readonly retries?: number;
  /** Whether repeated invocations are executed again. */
  readonly allowRepeats?: boolean;
}

/**
 * A running mock tool.
 * @example
 * const lastCall = (tool: MockTool) => tool.calls().at(-1);
 */
export interface MockTool extends AsyncDisposable {
  /** Seed of all random numbers. */
  readonly seed: string;
  readonly port: number;
  /** The base URL. */
  readonly url: string;
  readonly toolset: ToolsetFields;
  /** The remembered events, oldest first. */
  readonly events: readonly Event[];
  /** The number of events that are not remembered any more. */
  readonly forgotten: number;
  /** Calls the listener for every future event. Returns a function that stops this. */
  subscribe(listener: (event: Event) => void): () => void;
  /** The remembered calls, oldest first. */
  calls(): readonly ToolCall[];
  /**
   * Resolves to a call that was received, or to the next one: by operation or by filter.
   * @throws Error after `timeoutMs` (default 4,000); at once for an unknown operation
   */
  waitForCall(filter?: CallFilter, options?: WaitOptions): Promise<ToolCall>;
  /**
   * Resolves to the call with this `id` once its result was delivered or dropped. An id is unique in its thread only; see `groupId`.
   * @throws Error after `timeoutMs` (default 4,000)
   */
  waitForDelivery(id: string, options?: DeliveryWait): Promise<ToolCall>;
  /** Resets the counts and states of one key; without a key everything, including the list of calls and the verification. */
  reset(key?: string): void;
  /**
   * Fires the trigger of a waiting call: an event on demand, a consent, the default of a choice. Without an id it fires all triggers,
   * without a thread those of every thread. Returns how many it fired.
   */
  fire(id?: string, groupId?: string): number;
  /** Sends the last callback of a call again with the same bytes. Returns false if it is not remembered. */
  redeliver(key: string): boolean;
  /** Pauses deliveries until `resume`. */
  pause(): void;
  /** Sends the paused callbacks. */
  resume(): void;
  /** Replaces the fixtures from the next call on. @throws ProtocolCliError as `startMockTool` */
  replaceFixtures(source: FixtureSource): Promise<void>;
  /** What is unused, unmatched, undelivered or unexpected so far. */
  verify(): VerificationReport;
  /**
   * Waits until no call is open and no callback is pending, then returns the result of `verify`. After `timeoutMs` (default 4,000) it
   * returns at once and reports what is still pending as undelivered.
   */
  verified(options?: WaitOptions): Promise<VerificationReport>;
  /**
   * As `verified`, for tests.
   * @throws Error with the problems of the report, unless it is `ok`
   */
  assertVerified(options?: WaitOptions): Promise<void>;
  /** Sends everything pending at once, for at most `drainMs`, then closes. */
  close(options?: CloseOptions): Promise<void>;
}

/**
 * Serves fixtures, handlers, or both.
 * @throws ProtocolCliError `usage`, `unreadable-file`, `invalid-fixtures`, `invalid-toolset`, `port-in-use`
 * @example
 * await using tool = await startMockTool({ fixtures: 'fixtures.yaml' });
 * await runAgent(tool.url);
 * const call = await tool.waitForCall('edit_file');
 * console.log(call.invocation?.arguments);
 * await tool.assertVerified();
 */
export function startMockTool(options: MockToolOptions): Promise<MockTool> {
  return withFullMessage(start(options));
}
