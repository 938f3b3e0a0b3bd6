import { DEFAULT_MIDDLEWARE, type FixtureSet } from '../fixtures/fixture-set.js';
import type { Clock } from '../system/clock.js';
import type { HttpClient } from '../transport/client.js';
import type { Rate } from './answers/rate-limit.js';
import type { ToolDefinition } from './handlers/define-tool.js';
import type { Middleware } from './middleware/middlewares.js';

/** Everything a mock tool can be told; nothing is needed but fixtures or handlers. */
export interface MockToolOptions {
  /** Read by `readFixtures`, or checked by `parseFixtures`. */
  readonly fixtures?: FixtureSet;
  /** Operations in code; where both have one, the code answers. */
  readonly handlers?: readonly ToolDefinition[];
  readonly middleware?: readonly Middleware[];
  /** 127.0.0.1 unless told. */
  readonly host?: string;
  /** Any free one unless told. */
  readonly port?: number;
  /** Host names that requests may use besides the loopback's. */
  readonly allowHosts?: readonly string[];
  /** Origins that callbacks may go to besides loopback. */
  readonly allowCallbacks?: readonly string[];
  /** All draws come from it; a random one unless told. */
  readonly seed?: string;
  readonly rateLimit?: Rate;
  /** How many callbacks may be on their way; what is over it is dropped, and said. */
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
   * so what they said before their result may be said twice; a call that had asked somebody something ends in an error.
   */
  readonly journal?: { readonly path: string; readonly sync?: boolean };
  /** How long `close()` waits for deliveries, in ms. */
  readonly drainMs?: number;
  /** Who runs it, for transcripts: `protocol-cli/0.1.0`. */
  readonly program?: string;
  /** What posts callbacks; one made for throughput unless told. */
  readonly client?: () => Promise<HttpClient>;
  readonly clock?: Clock;
}

/** What a tool of handlers alone serves besides them. */
export const NO_FIXTURES: FixtureSet = {
  toolset: { name: 'handlers', tools: [], needsMigration: false },
  middleware: DEFAULT_MIDDLEWARE,
  fixtures: [],
};
