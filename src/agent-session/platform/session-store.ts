import { createHash, randomUUID } from 'node:crypto';
import type { Log } from '../../events/log.js';
import type { SessionScript } from '../../fixtures/session-script-types.js';
import type { Clock } from '../../system/clock.js';
import { FindingsCollector } from '../../util/collections.js';
import { LIMITS } from '../../util/limits.js';
import type { SessionProblem, SessionVerificationReport } from '../../verification/report.js';
import { detail, Refused } from './request-errors.js';
import { type Creation, Session } from './session.js';

/** A refused request that the verification reports: what it asked for, the id of its session, and the response. */
interface RefusedRequest {
  readonly what: 'results' | 'session';
  readonly session: string | undefined;
  readonly status: number;
  readonly reason: string;
}

/** The sessions of a mock platform, and whether clients used them as the script expects. */
export class SessionStore {
  readonly #byId = new Map<string, Session>();
  /** By `Idempotency-Key`. */
  readonly #created = new Map<string, { readonly session: Session; readonly bodyDigest: string }>();
  /** Ids of the sessions that clients used. */
  readonly #used = new Set<string>();
  readonly #refused = new FindingsCollector<SessionProblem>();

  constructor(
    private readonly script: SessionScript,
    private readonly log: Log,
    private readonly clock: Clock,
  ) {}

  /** All sessions, oldest first. */
  all(): readonly Session[] {
    return [...this.#byId.values()];
  }

  find(id: string): Session | undefined {
    return this.#byId.get(id);
  }

  /** The number of sessions that can be active, as the mock's quota says. */
  get limit(): number {
    return LIMITS.sessions.value;
  }

  get isFull(): boolean {
    return this.#byId.size >= this.limit;
  }

  /** Whether clients may add so many bytes. */
  hasRoom(bytes: number): boolean {
    let sum = bytes;
    for (const session of this.#byId.values()) sum += session.bytes;
    return sum <= LIMITS.sessionBytes.value;
  }

  /** Adds a session, which has not started. */
  add(id: string, creation?: Creation): Session {
    const session = new Session(id, this.script, this.log, this.clock, creation);
    this.#byId.set(id, session);
    return session;
  }

  /** Adds a session of a client, which has not started. @param key the `Idempotency-Key` of the request */
  create(creation: Creation, body: Uint8Array, key?: string): Session {
    const session = this.add(randomUUID(), creation);
    this.markUsed(session);
    if (key !== undefined) this.#created.set(key, { session, bodyDigest: digestOf(body) });
    return session;
  }

  /** Returns the session that was created with an `Idempotency-Key`. @throws Refused if that was with another body */
  createdWith(key: string, body: Uint8Array): Session | undefined {
    const created = this.#created.get(key);
    if (!created || created.bodyDigest === digestOf(body)) return created?.session;
    const loc = ['header', 'Idempotency-Key'];
    throw new Refused(422, [
      detail('idempotency_key_reused', loc, 'This key was used with another body', key),
    ]);
  }

  markUsed({ id }: Session): void {
    this.#used.add(id);
  }

  addRefused({ what, session, status, reason }: RefusedRequest): void {
    if (status === 409) {
      const message = `results came after the session had ended: ${reason}`;
      this.log.emit({ kind: 'warned', message, ...(session !== undefined && { thread: session }) });
      return;
    }
    const about = what === 'session' && { what };
    this.#refused.add({ kind: 'refused', ...about, session: session ?? null, status, reason });
  }

  /** What is unanswered, unexpected, unreached or refused in the sessions that clients used; in all sessions if they used none. */
  verify(): SessionVerificationReport {
    const all = this.all();
    const sessions = this.#used.size === 0 ? all : all.filter(({ id }) => this.#used.has(id));
    const problems = this.#refused.with(sessions.flatMap(session => session.problems()));
    const answered = sessions.reduce((sum, { settled }) => sum + settled.length, 0);
    const open = sessions.reduce((sum, { unanswered }) => sum + unanswered.length, 0);
    return {
      ok: problems.count === 0,
      sessions: sessions.length,
      calls: answered + open,
      answered,
      problems,
    };
  }
}

function digestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}
