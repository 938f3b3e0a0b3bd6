import { randomBytes } from 'node:crypto';
import { ProtocolCliError } from '../../errors.js';
import { EventRing } from '../../exchange/event-ring.js';
import type { Event } from '../../exchange/events.js';
import { createLog, type Listener } from '../../exchange/log.js';
import { FindingsCollector } from '../../exchange/verification/findings.js';
import type { SessionVerificationReport } from '../../exchange/verification/session-report.js';
import { defaultSessionScript } from '../../fixtures/session/default-script.js';
import { isSettledStatus } from '../../protocol/session/status.js';
import { systemClock } from '../../system/clock.js';
import type { RunningServer } from '../../transport/server.js';
import { DEFAULTS, FIRST_SESSION, type SessionPlatformOptions } from './options.js';
import type { Api } from './routes/endpoint.js';
import { serve } from './serve.js';
import { start } from './state/play.js';
import { createSession, type Session, statusOf } from './state/session.js';
import { StopBell } from './stop-bell.js';
import { SessionStore } from './store.js';
import { verificationOf } from './verification.js';

/** Less than test runners allow a test by default, so that what this says is what is read. */
const PATIENCE_MS = 4_000;

/** A session as a test looks at it. */
export interface SessionState {
  readonly id: string;
  readonly status: string;
  /** JSON; null until the agent said it. */
  readonly answer: unknown;
  /** Calls that wait for an answer. */
  readonly pending: Session['pending'];
  /** Calls and their answers, in the order in which they came. */
  readonly settled: Session['settled'];
}

/** The platform of agent sessions, played by a script. */
export class SessionPlatform implements AsyncDisposable {
  #closed: Promise<void> | undefined;
  readonly #ring: EventRing;

  private constructor(
    private readonly api: Api,
    private readonly server: RunningServer,
    ring: EventRing,
  ) {
    this.#ring = ring;
  }

  /** @throws ProtocolCliError `port-in-use`, `usage`. */
  static async start(options: SessionPlatformOptions = {}): Promise<SessionPlatform> {
    const { script = defaultSessionScript(), clock = systemClock, keep = DEFAULTS.keep } = options;
    const { key = randomBytes(24).toString('base64url') } = options;
    requireSendable(key);
    const { log = createLog(() => clock.now()) } = options;
    const ring = new EventRing({ events: keep });
    log.subscribe(event => ring.push(event));
    const store = new SessionStore(log, clock);
    const bell = new StopBell();
    const api: Api = { log, key, script, store, clock, bell, refused: new FindingsCollector() };
    const server = await serve(api, options);
    const at = clock.wall().toISOString();
    const first = createSession({ id: FIRST_SESSION, script, tools: script.tools, request: {}, at });
    store.add(first);
    store.step(first, start);
    return new SessionPlatform(api, server, ring);
  }

  get port(): number {
    return this.server.port;
  }

  /** The base, without `/api/v2`. */
  get url(): string {
    return this.server.url;
  }

  /** What clients show as `Authorization: Bearer …`. */
  get key(): string {
    return this.api.key;
  }

  /** The id of the session that is there from the start; further ones are created by clients. */
  get session(): string {
    return FIRST_SESSION;
  }

  /** Oldest first. */
  sessions(): readonly SessionState[] {
    return this.api.store.all.map(stateOf);
  }

  /** The events that are remembered, oldest first. */
  get events(): readonly Event[] {
    return this.#ring.events;
  }

  /** Tells of every event from now on. Returns how to stop listening. */
  subscribe(listener: Listener): () => void {
    return this.api.log.subscribe(listener);
  }

  /**
   * A session, once it is at its end, or idle. @param id the one that is there from the start unless told
   * @throws Error where there is no such session; after `timeoutMs`, 4,000 unless told.
   */
  waitForSettled(id: string = FIRST_SESSION, { timeoutMs = PATIENCE_MS } = {}): Promise<SessionState> {
    const { store, clock } = this.api;
    const now = () => {
      const session = store.get(id);
      if (!session) throw new Error(`there is no session "${id}"`);
      return stateOf(session);
    };
    return new Promise((resolve, reject) => {
      const seen = now();
      if (isSettledStatus(seen.status)) return resolve(seen);
      const unwatch = store.watch(id, () => {
        const state = now();
        if (!isSettledStatus(state.status)) return;
        callOff();
        unwatch();
        resolve(state);
      });
      const callOff = clock.after(timeoutMs, () => {
        unwatch();
        reject(
          new Error(`waited ${timeoutMs} ms for the session "${id}" to settle in vain; ${whyNot(now())}`),
        );
      });
    });
  }

  /** What was unanswered, unexpected, unreached or refused, so far. */
  verify(): SessionVerificationReport {
    return verificationOf(this.api.store.meant, this.api.refused);
  }

  /** Whoever waits for news gets a 204; then everything ends. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.api.bell.ring();
    await this.server.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** See {@link SessionPlatform.start}. */
export const startSessionPlatform = SessionPlatform.start;

function stateOf(session: Session): SessionState {
  const { id, answer, pending, settled } = session;
  return { id, status: statusOf(session), answer, pending, settled };
}

function whyNot({ status, pending }: SessionState): string {
  const calls = pending.map(({ tool_name, key }) => `${tool_name} (${key})`);
  return calls.length > 0 ? `it is ${status}, for ${calls.join(', ')}` : `it is ${status}`;
}

/** What a header can carry, in one word. */
function requireSendable(key: string): void {
  if (/^[\x21-\x7e]{1,1024}$/.test(key)) return;
  throw new ProtocolCliError('usage', 'the key cannot be sent in a header', {
    hint: 'A key is one word of visible ASCII characters, at most 1024 of them.',
  });
}
