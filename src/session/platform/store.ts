import type { Log } from '../../events/log.js';
import type { SessionScript } from '../../fixtures/session-script.js';
import type { Clock } from '../../system/drafts.js';
import { isRecord } from '../../util/json-diagnosis.js';
import { type Session, type Stepped, statusOf } from './session-state.js';

/** So many sessions are kept, whatever becomes of them. */
const MOST = 1_000;
/** Of all that clients put into sessions, which are kept as long as the platform runs. */
const MOST_BYTES = 128 * 1024 * 1024;

/** The sessions of a platform, oldest first; every step of one is told, and wakes whoever waits for it. */
export class SessionStore {
  readonly #sessions = new Map<string, Session>();
  readonly #watchers = new Map<string, Set<() => void>>();
  readonly #touched = new Set<string>();
  #bytes = 0;

  constructor(
    private readonly log: Log,
    private readonly clock: Clock,
  ) {}

  get isFull(): boolean {
    return this.#sessions.size >= MOST;
  }

  /** Whether clients may put so many bytes more into sessions. */
  hasRoom(bytes: number): boolean {
    return this.#bytes + bytes <= MOST_BYTES;
  }

  get all(): readonly Session[] {
    return [...this.#sessions.values()];
  }

  /** Those that somebody asked for; where nobody asked for any, all of them. */
  get meant(): readonly Session[] {
    return this.#touched.size === 0 ? this.all : this.all.filter(({ id }) => this.#touched.has(id));
  }

  get(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  touch(id: string): void {
    this.#touched.add(id);
  }

  add(session: Session): void {
    this.#bytes += bytesOf(session) - bytesOf(this.#sessions.get(session.id));
    this.#sessions.set(session.id, session);
  }

  /** Takes a step with a session, at this moment. */
  step(session: Session, take: (session: Session, at: string) => Stepped): void {
    this.apply(take(session, this.clock.wall().toISOString()));
  }

  apply({ session, facts }: Stepped): void {
    this.add(session);
    for (const fact of facts) this.log.emit(fact);
    for (const wake of [...(this.#watchers.get(session.id) ?? [])]) wake();
  }

  /** Calls back at every step of a session. Returns how to stop. */
  watch(id: string, listener: () => void): () => void {
    const watchers = this.#watchers.get(id) ?? new Set();
    this.#watchers.set(id, watchers.add(listener));
    return () => {
      watchers.delete(listener);
      if (watchers.size === 0) this.#watchers.delete(id);
    };
  }
}

function bytesOf(session: Session | undefined): number {
  return session ? session.postedBytes + session.eventBytes : 0;
}

/** Tells once that a platform stops. Whoever listens no longer is forgotten: a promise would keep them all. */
export class StopBell {
  readonly #listeners = new Set<() => void>();
  #hasRung = false;

  /** How many still listen. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /** Calls back when it rings, or soon where it has. Returns how to stop listening. */
  listen(listener: () => void): () => void {
    if (this.#hasRung) queueMicrotask(listener);
    else this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  ring(): void {
    this.#hasRung = true;
    for (const listener of [...this.#listeners]) listener();
  }
}

export interface NewsWait {
  readonly store: SessionStore;
  readonly clock: Clock;
  /** Rings when the platform stops. */
  readonly bell: StopBell;
}

interface Wanted {
  readonly id: string;
  readonly ms: number;
  /** Whether there is what is waited for. */
  readonly isThere: () => boolean;
  /** Calls back where nobody waits any more. */
  readonly onGone?: ((callback: () => void) => void) | undefined;
}

/** Resolves once there is news of a session, after its time, or when the platform stops; false where whoever waited went away. */
export function untilNews(
  { store, clock, bell }: NewsWait,
  { id, ms, isThere, onGone }: Wanted,
): Promise<boolean> {
  if (ms <= 0 || isThere()) return Promise.resolve(true);
  return new Promise(resolve => {
    const done = (isWanted: boolean) => {
      callOff();
      unwatch();
      unlisten();
      resolve(isWanted);
    };
    const callOff = clock.after(ms, () => done(true));
    const unwatch = store.watch(id, () => {
      if (isThere()) done(true);
    });
    const unlisten = bell.listen(() => done(true));
    onGone?.(() => done(false));
  });
}

/** Everything a session platform can be told; nothing is needed. */
export interface SessionPlatformOptions {
  /** Read by `readSessionScript`, or checked by `parseSessionScript`; one pending call of `lookup_order` unless told. */
  readonly script?: SessionScript;
  /** What clients show as `Authorization: Bearer …`; a random one unless told. */
  readonly key?: string;
  /** 127.0.0.1 unless told. */
  readonly host?: string;
  /** Any free one unless told. */
  readonly port?: number;
  /** Host names that requests may use besides the loopback's. */
  readonly allowHosts?: readonly string[];
  /** How many events are remembered. */
  readonly keep?: number;
  readonly clock?: Clock;
  /** Where its events go; a log of its own unless told. */
  readonly log?: Log;
}

/** What holds where nobody says otherwise. */
export const DEFAULTS = {
  /** Of a body; the documented limit (platforms). */
  maxBody: 5 * 1024 * 1024,
  keep: 10_000,
} as const;

/** The session that is there from the start. */
export const FIRST_SESSION = 'session_1';

/** `GET …/status`: the live status, cheap to ask for. */
export function statusView(session: Session) {
  return {
    status: statusOf(session),
    error: session.error,
    steps: session.round + 1,
    usage_per_model: [],
    subagent_session_ids: [],
  };
}

/** `GET …/{id}`: everything but the events. */
export function sessionView(session: Session) {
  return {
    id: session.id,
    request: session.request,
    status: statusView(session),
    latest_answer: session.answer,
    tools: session.tools,
    ...timesOf(session),
  };
}

/** One of the list. */
export function summaryView(session: Session) {
  const { request } = session;
  return {
    id: session.id,
    agent: isRecord(request) ? (request['agent'] ?? null) : null,
    status: statusOf(session),
    ...timesOf(session),
  };
}

/** `GET …/changes`: what is new from an index on. */
export function changesView(session: Session, { from, limit, events }: ChangesQuery) {
  const news = session.events.slice(from, limit === null ? undefined : from + limit);
  return {
    status: statusOf(session),
    started_at: session.startedAt,
    finished_at: session.finishedAt,
    error: session.error,
    answer: session.answer,
    metrics: { steps: session.round + 1 },
    new_events: events ? news : [],
  };
}

interface ChangesQuery {
  /** Index of an event, from 0. */
  readonly from: number;
  /** Null has no limit. */
  readonly limit: number | null;
  /** Whether events are told, or only counted. */
  readonly events: boolean;
}

/** A part of a list, as all lists of the API are given. @param page from 1 */
export function pageView<T>(
  all: readonly T[],
  { page, size }: { readonly page: number; readonly size: number },
) {
  return { items: all.slice((page - 1) * size, page * size), page, total: all.length };
}

function timesOf({ createdAt, startedAt, finishedAt }: Session) {
  return { created_at: createdAt, started_at: startedAt, finished_at: finishedAt };
}
