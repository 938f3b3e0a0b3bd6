import { randomBytes } from 'node:crypto';
import { EventRing } from '../../events/bounded-events.js';
import type { Event } from '../../events/events.js';
import { createLog, type Listener, type Log } from '../../events/log.js';
import { defaultSessionScript } from '../../fixtures/session-script.js';
import type { SessionScript } from '../../fixtures/session-script-types.js';
import { allowedDestinations } from '../../http/addresses.js';
import { type RunningServer, startServer } from '../../http/server.js';
import { isSettledStatus } from '../../protocol/session.js';
import { type Clock, systemClock } from '../../system/clock.js';
import { ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import type { SessionVerificationReport } from '../../verification/report.js';
import { ChangeWaits } from './change-waits.js';
import type { Session } from './session.js';
import { SessionApi } from './session-api.js';
import { SessionStore } from './session-store.js';
import { Webhooks } from './webhooks.js';

interface SessionPlatformOptions {
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
  /** Origins besides this machine to which webhooks are delivered, as `https://receiver.example:8443`. */
  readonly allowWebhooks?: readonly string[];
  /** Receives the secrets of webhooks. */
  readonly onSecret?: (secret: string) => void;
  readonly clock?: Clock;
  /** Receives the events; default: a log of its own. */
  readonly log?: Log;
}

/** A snapshot of a session, for tests. */
type SessionState = Readonly<Pick<Session, 'id' | 'status' | 'answer' | 'pending' | 'settled'>>;

/** Shorter than the default timeout of test runners, so that they show our message. */
const PATIENCE_MS = 4_000;

/** Id of the session that exists from the start. */
const FIRST_SESSION = '00000000-0000-4000-8000-000000000001';

/** How refusals name the URL of a webhook, and the option that allows it. */
const WEBHOOKS = { name: 'URL of the webhook', those: 'webhooks', option: '--allow-webhook' };

/** A mock platform of agent sessions, whose agent follows a script: the HTTP API with its sessions. */
export class SessionPlatform implements AsyncDisposable {
  /** The API key, which clients send as `Authorization: Bearer …`. */
  readonly key: string;
  /** The id of the session that exists from the start; clients can create others. */
  readonly session = FIRST_SESSION;
  readonly #log: Log;
  readonly #ring = new EventRing();
  readonly #sessions: SessionStore;
  readonly #waits: ChangeWaits;
  readonly #webhooks: Webhooks;
  readonly #api: SessionApi;
  #server: RunningServer | undefined;
  #closed: Promise<void> | undefined;

  private constructor(options: SessionPlatformOptions) {
    const { script = defaultSessionScript(), clock = systemClock } = options;
    const { key = randomBytes(24).toString('base64url'), log = createLog(() => clock.now()) } = options;
    const { allowWebhooks = [], onSecret = () => {} } = options;
    requireSendable(key);
    this.key = key;
    this.#log = log;
    log.subscribe(event => this.#ring.push(event));
    const destinationProblem = allowedDestinations(allowWebhooks, WEBHOOKS);
    const sessions = new SessionStore(script, log, clock);
    const waits = new ChangeWaits(clock);
    const webhooks = new Webhooks({ log, clock, destinationProblem, onSecret });
    this.#sessions = sessions;
    this.#waits = waits;
    this.#webhooks = webhooks;
    this.#api = new SessionApi({ key, script, log, sessions, waits, webhooks });
  }

  /** @throws ProtocolCliError `port-in-use`, `usage`. */
  static async start(options: SessionPlatformOptions = {}): Promise<SessionPlatform> {
    const platform = new SessionPlatform(options);
    const { host, port, allowHosts = [] } = options;
    platform.#server = await startServer({
      ...(host !== undefined && { host }),
      ...(port !== undefined && { port }),
      allowedHosts: allowHosts,
      maxBody: LIMITS.sessionBodyBytes.value,
      explains: 'json',
      routes: platform.#api.routes(),
      onRefused: (denial, request) => platform.#api.onRefused(denial, request),
    });
    platform.#sessions.add(FIRST_SESSION).start();
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
    return this.#sessions.all().map(stateOf);
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
    const session = this.#sessions.find(id);
    if (!session) throw new Error(`no session "${id}"`);
    const isSettled = () => isSettledStatus(session.status);
    await this.#waits.wait(session, timeoutMs, isSettled);
    if (!isSettled())
      throw new Error(`the session "${id}" did not settle within ${timeoutMs} ms; ${statusText(session)}`);
    return stateOf(session);
  }

  /** What is unanswered, unexpected, unreached or refused in the sessions that clients used; in all sessions if they used none. */
  verify(): SessionVerificationReport {
    return this.#sessions.verify();
  }

  /** Ends long polls with 204, and deliveries of webhooks, then stops the server. */
  close(): Promise<void> {
    this.#waits.close();
    this.#closed ??= this.#webhooks.close().then(() => this.#running.close());
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
