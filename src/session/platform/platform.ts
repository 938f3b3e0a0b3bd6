import { randomBytes } from 'node:crypto';
import { EventRing } from '../../events/bounded-events.js';
import type { Event } from '../../events/events.js';
import { createLog, type Listener, type Log } from '../../events/log.js';
import type { SessionVerificationReport } from '../../events/verification.js';
import { defaultSessionScript, type SessionScript } from '../../fixtures/session-script.js';
import { type RunningServer, startServer } from '../../http/server.js';
import { isSettledStatus } from '../../protocol/session.js';
import { type Clock, systemClock } from '../../system/clock.js';
import { ProtocolCliError } from '../../util/errors.js';
import { SessionApi } from './api.js';
import type { PendingCall, Session, Settled } from './session.js';

export interface SessionPlatformOptions {
  /** From `readSessionScript` or `parseSessionScript`; default: one pending call of `lookup_order`. */
  readonly script?: SessionScript;
  /** The API key, which clients send as `Authorization: Bearer …`; default: a random one. */
  readonly key?: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: any free port. */
  readonly port?: number;
  /** Host names besides loopback that requests may use. */
  readonly allowHosts?: readonly string[];
  /** Number of events to keep; default: 10,000. */
  readonly keep?: number;
  readonly clock?: Clock;
  /** Receives the events; default: a log of its own. */
  readonly log?: Log;
}

/** A snapshot of a session, for tests. */
export interface SessionState {
  readonly id: string;
  readonly status: string;
  /** JSON text; null before the agent's final answer. */
  readonly answer: unknown;
  readonly pending: readonly PendingCall[];
  /** Calls with their answers, in the order in which the answers arrived. */
  readonly settled: readonly Settled[];
}

/** The documented maximum size of a body, in bytes (platforms). */
const MAX_BODY = 5 * 1024 * 1024;

/** Shorter than the default timeout of test runners, so that they show our message. */
const PATIENCE_MS = 4_000;

/** Id of the session that exists from the start. */
const FIRST_SESSION = 'session_1';

/** A mock platform of agent sessions, whose agent follows a script. */
export class SessionPlatform implements AsyncDisposable {
  /** The API key, which clients send as `Authorization: Bearer …`. */
  readonly key: string;
  /** The id of the session that exists from the start; clients can create others. */
  readonly session = FIRST_SESSION;
  readonly #api: SessionApi;
  readonly #ring: EventRing;
  readonly #log: Log;
  readonly #clock: Clock;
  #server: RunningServer | undefined;
  #closed: Promise<void> | undefined;

  private constructor(options: SessionPlatformOptions) {
    const { script = defaultSessionScript(), clock = systemClock, keep = 10_000 } = options;
    const { key = randomBytes(24).toString('base64url'), log = createLog(() => clock.now()) } = options;
    requireSendable(key);
    this.key = key;
    this.#log = log;
    this.#clock = clock;
    this.#ring = new EventRing({ events: keep });
    log.subscribe(event => this.#ring.push(event));
    this.#api = new SessionApi({ log, key, script, clock });
  }

  /** @throws ProtocolCliError `port-in-use`, `usage`. */
  static async start(options: SessionPlatformOptions = {}): Promise<SessionPlatform> {
    const platform = new SessionPlatform(options);
    const { host, port, allowHosts = [] } = options;
    const api = platform.#api;
    platform.#server = await startServer({
      ...(host !== undefined && { host }),
      ...(port !== undefined && { port }),
      allowedHosts: allowHosts,
      maxBody: MAX_BODY,
      explains: 'json',
      routes: api.routes,
      onRefused: refusal => api.onRefused(refusal),
    });
    api.add(FIRST_SESSION).start();
    return platform;
  }

  get port(): number {
    return this.#running.port;
  }

  /** The base URL, without `/api/v2`. */
  get url(): string {
    return this.#running.url;
  }

  /** Snapshots of all sessions, oldest first. */
  sessions(): readonly SessionState[] {
    return Array.from(this.#api.sessions.values(), stateOf);
  }

  /** The latest events, oldest first. */
  get events(): readonly Event[] {
    return this.#ring.events;
  }

  /** Calls `listener` with every future event. Returns a function that stops this. */
  subscribe(listener: Listener): () => void {
    return this.#log.subscribe(listener);
  }

  /**
   * Resolves once a session has ended or is idle.
   * @param id default: the session that exists from the start
   * @throws Error if there is no such session, or after `timeoutMs` (default: 4,000).
   */
  async waitForSettled(id: string = FIRST_SESSION, { timeoutMs = PATIENCE_MS } = {}): Promise<SessionState> {
    const session = this.#api.sessions.get(id);
    if (!session) throw new Error(`no session "${id}"`);
    if (!isSettledStatus(session.status))
      await new Promise<void>((resolve, reject) => {
        const unwatch = session.onChange(() => {
          if (!isSettledStatus(session.status)) return;
          cancel();
          unwatch();
          resolve();
        });
        const cancel = this.#clock.after(timeoutMs, () => {
          unwatch();
          reject(
            new Error(`the session "${id}" did not settle within ${timeoutMs} ms; ${statusText(session)}`),
          );
        });
      });
    return stateOf(session);
  }

  /** What is unanswered, unexpected, unreached or refused so far. */
  verify(): SessionVerificationReport {
    return this.#api.verify();
  }

  /** Ends long polls with 204, then stops the server. */
  close(): Promise<void> {
    this.#api.close();
    this.#closed ??= this.#running.close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #running(): RunningServer {
    if (!this.#server) throw new Error('the platform has not started');
    return this.#server;
  }
}

/** See {@link SessionPlatform.start}. */
export const startSessionPlatform = SessionPlatform.start;

function stateOf({ id, status, answer, pending, settled }: Session): SessionState {
  return { id, status, answer, pending, settled: [...settled] };
}

function statusText({ status, pending }: Session): string {
  const calls = pending.map(({ tool_name, key }) => `${tool_name} (${key})`);
  return calls.length > 0 ? `it is ${status}, for ${calls.join(', ')}` : `it is ${status}`;
}

function requireSendable(key: string): void {
  if (/^[\x21-\x7e]{1,1024}$/.test(key)) return;
  throw new ProtocolCliError('usage', 'the key cannot be sent in a header', {
    hint: 'A key is one word of visible ASCII characters, at most 1024 of them.',
  });
}
