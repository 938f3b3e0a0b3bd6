import { RecentMap } from '../../text/recent-map.js';
import type { Event, RequestEvent } from '../events.js';
import { type SessionLimits, withoutOldCalls } from './forget-calls.js';
import type { Session } from './session.js';
import { withAnswers, withOurs, withPost, withPostEnd, withWarning } from './step-calls.js';
import { beginSession, stepSession } from './step-session.js';

/** A request of the session API that is not answered yet, or has just been. */
export type SessionRequest = Pick<
  RequestEvent,
  'leg' | 'purpose' | 'method' | 'url' | 'at' | 'attempt' | 'thread' | 'calls'
>;

type EndEvent = Extract<Event, { kind: 'response' | 'broken' }>;

const LIMITS: SessionLimits = { calls: 1_000, bytes: 32 * 1024 * 1024 };
/** The oldest sessions go where there are more, or where all together are larger than one may be. */
const MOST_SESSIONS = 500;
/** Not answered yet. */
const MOST_REQUESTS = 2_000;
const MOST_WARNINGS = 200;

/**
 * All agent sessions that a list of events tells of, in bounded memory. Sessions are values, replaced as they change; the index around
 * them is mutable. Events of other wires are nothing to them.
 */
export class Sessions {
  readonly #limits: SessionLimits & { readonly sessions: number };
  readonly #byId = new Map<string, Session>();
  readonly #requests = new RecentMap<string, SessionRequest>(MOST_REQUESTS);
  readonly #warnings: string[] = [];
  #told: string | null = null;
  #bytes = 0;

  constructor(limits: Partial<SessionLimits & { readonly sessions: number }> = {}) {
    this.#limits = { sessions: MOST_SESSIONS, ...LIMITS, ...limits };
  }

  apply(event: Event): void {
    if (this.#told !== null) this.#requests.delete(this.#told);
    this.#told = null;
    switch (event.kind) {
      case 'session':
      case 'awaiting':
        this.#change(event.thread, event, session => stepSession(session, event));
        break;
      case 'answered':
        this.#change(event.thread, null, session => withAnswers(session, event));
        break;
      case 'denied':
      case 'expired':
        this.#change(event.thread, null, session => withOurs(session, event));
        break;
      case 'request':
        this.#onRequest(event);
        break;
      case 'response':
      case 'broken':
        this.#onEnd(event);
        break;
      case 'warned':
        this.#warnings.push(event.message);
        if (this.#warnings.length > MOST_WARNINGS) this.#warnings.shift();
        this.#change(event.thread, null, session => withWarning(session, event));
    }
  }

  get(id: string): Session | undefined {
    return this.#byId.get(id);
  }

  /** Oldest first; a list of its own. */
  get list(): readonly Session[] {
    return [...this.#byId.values()];
  }

  get size(): number {
    return this.#byId.size;
  }

  /** The latest, whatever they are about. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** What was asked on this leg: until it is answered, and for as long as that is the latest event. */
  request(leg: string): SessionRequest | undefined {
    return this.#requests.get(leg);
  }

  #onRequest(event: RequestEvent): void {
    if (event.dialect !== 'session') return;
    const { leg, purpose, method, url, at, attempt, thread, calls = [] } = event;
    this.#requests.set(leg, {
      leg,
      purpose,
      method,
      url,
      at,
      attempt,
      calls,
      ...(thread !== undefined && { thread }),
    });
    if (purpose === 'tool_results')
      this.#change(thread, null, session => withPost(session, calls, { leg, at }));
  }

  #onEnd(event: EndEvent): void {
    const request = this.#requests.get(event.leg);
    if (!request) return;
    this.#told = event.leg;
    if (request.purpose !== 'tool_results') return;
    const keys = [...new Set([...(request.calls ?? []), ...(event.calls ?? [])])];
    this.#change(request.thread ?? event.thread, null, session =>
      withPostEnd(session, keys, event.leg, event),
    );
  }

  /** @param beginning the event that may be the first of its session */
  #change(id: string | undefined, beginning: Event | null, change: (session: Session) => Session): void {
    if (id === undefined) return;
    const known = this.#byId.get(id);
    const session = known ?? (beginning && beginSession(id, beginning));
    if (!session) return;
    const next = withoutOldCalls(change(session), this.#limits);
    this.#byId.set(id, next);
    this.#bytes += next.size - (known?.size ?? 0);
    this.#forgetOldest();
  }

  #forgetOldest(): void {
    const { sessions, bytes } = this.#limits;
    for (const [id, { size }] of this.#byId) {
      if (this.#byId.size === 1 || (this.#byId.size <= sessions && this.#bytes <= bytes)) return;
      this.#byId.delete(id);
      this.#bytes -= size;
    }
  }
}
