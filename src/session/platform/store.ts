import type { Log } from '../../exchange/log.js';
import type { Clock } from '../../system/clock.js';
import type { Session, Stepped } from './state/session.js';

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
