import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { RequestEvent } from '../../events/events.js';
import type { Log } from '../../events/log.js';
import { FindingsCollector, type SessionProblem } from '../../events/verification.js';
import type { SessionScript } from '../../fixtures/session-script.js';
import type { Answer, Head, Incoming, Refusal, Reply, Route } from '../../http/route.js';
import type { Clock } from '../../system/clock.js';
import { isRecord } from '../../util/values.js';
import { ApiRequest, judgeResults } from './api-request.js';
import { Session } from './session.js';

const API = '/api/v2';

const SESSION_PATH = /^\/api\/v2\/sessions(?:\/(?<id>[^/]+)(?:\/(?<below>[^/]+))?)?$/;

/** Limits of the platform, because it keeps all sessions with their content as long as it runs. */
const MAX = { sessions: 1_000, bytes: 128 * 1024 * 1024, waitSeconds: 60 };

/** Maximum size of results that are always accepted, in bytes, so that each session can reach its end. */
const SMALL_RESULTS = 64 * 1024;

const UNAUTHORIZED = 'Invalid or missing API key.';

const NOT_FOUND = 'Session not found.';

const TOO_LARGE = 'The sessions are too large together; start the mock again.';

const TOO_MANY_EVENTS = 'This session has too many events.';

interface Purpose {
  /** Default: `session`. */
  readonly purpose?: RequestEvent['purpose'];
  /** Default: `nothing`. */
  readonly accepts?: 'json' | 'json?';
  /** What the verification reports if the request is refused. */
  readonly verifies?: 'results' | 'session';
}

type Responder = (request: ApiRequest) => Reply | Promise<Reply>;

function onSession(respond: (request: ApiRequest, session: Session) => Reply | Promise<Reply>): Responder {
  return request => (request.session ? respond(request, request.session) : request.refuse(404, NOT_FOUND));
}

function show(view: (session: Session) => unknown): Responder {
  return onSession((request, session) => request.answer(200, view(session)));
}

/** The response is logged before the events that follow from it. */
function steer(status: number, apply: (session: Session) => void): Responder {
  return onSession((request, session) => {
    const answer = request.answer(status);
    apply(session);
    return answer;
  });
}

interface ApiOptions {
  readonly log: Log;
  readonly key: string;
  readonly script: SessionScript;
  readonly clock: Clock;
}

/** The HTTP API of agent sessions (platforms), with its sessions. */
export class SessionApi {
  readonly sessions = new Map<string, Session>();
  readonly routes: readonly Route[];
  readonly #options: ApiOptions;
  readonly #keyDigest: Buffer;
  readonly #refused = new FindingsCollector<SessionProblem>();
  /** Ids of the sessions that clients used. */
  readonly #used = new Set<string>();
  /** Sessions by `Idempotency-Key`. */
  readonly #created = new Map<string, { readonly session: Session; readonly digest: string }>();
  /** Functions that end the open long polls. */
  readonly #polls = new Set<() => void>();
  #isClosed = false;

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#keyDigest = sha256(options.key);
    const routes = [
      this.#route('GET', '', request =>
        page(request, { size: 10, max: 100 }, [...this.sessions.values()].toReversed().map(summaryView)),
      ),
      this.#route('POST', '', request => this.#create(request), { accepts: 'json?', verifies: 'session' }),
      this.#route('GET', '/{id}', show(sessionView)),
      this.#route('GET', '/{id}/status', show(statusView)),
      this.#route(
        'GET',
        '/{id}/events',
        onSession((request, { events }) => page(request, { size: 50, max: 200 }, events)),
      ),
      this.#route('GET', '/{id}/changes', onSession(this.#changes), { purpose: 'changes' }),
      this.#route('POST', '/{id}/pause', onSession(pause)),
      this.#route(
        'POST',
        '/{id}/resume',
        steer(202, session => session.resume()),
      ),
      this.#route(
        'POST',
        '/{id}/force_answer',
        steer(202, session => session.forceAnswer()),
      ),
      this.#route(
        'DELETE',
        '/{id}',
        steer(204, session => session.cancel()),
      ),
      this.#route('POST', '/{id}/messages', onSession(this.#takeMessages), {
        purpose: 'message',
        accepts: 'json',
      }),
      this.#route('POST', '/{id}/tool_results', onSession(this.#takeResults), {
        purpose: 'tool_results',
        accepts: 'json',
        verifies: 'results',
      }),
    ];
    this.routes = [...routes, this.#route('any', null, request => notAllowed(request, routes))];
  }

  /** Adds a session that has not started. */
  add(id: string, tools = this.#options.script.tools, request: unknown = {}, size = 0): Session {
    const { script, clock, log } = this.#options;
    const now = () => clock.wall().toISOString();
    const emit = log.emit.bind(log);
    const session = new Session({ id, script, tools, request, size, now, emit });
    this.sessions.set(id, session);
    return session;
  }

  /** What is unanswered, unexpected, unreached or refused in the sessions that clients used; in all sessions if they used none. */
  verify() {
    const all = [...this.sessions.values()];
    const sessions = this.#used.size === 0 ? all : all.filter(({ id }) => this.#used.has(id));
    const problems = this.#refused.with(sessions.flatMap(session => session.problems()));
    const answered = sessions.reduce((sum, { settled }) => sum + settled.length, 0);
    const open = sessions.reduce((sum, { unansweredCount }) => sum + unansweredCount, 0);
    return {
      ok: problems.count === 0,
      sessions: sessions.length,
      calls: answered + open,
      answered,
      problems,
    };
  }

  /** Logs a request that the HTTP server refused: a body too large, a foreign Host, a web page. */
  onRefused({ method = '', target = '', status, detail: reason }: Refusal): void {
    const message = `a request was refused with ${status}, since ${reason}: ${method} ${pathOf(target)}`;
    const thread = this.#sessionAt(target)?.id;
    this.#options.log.emit({ kind: 'warned', message, ...(thread !== undefined && { thread }) });
    if (/\/tool_results$/.test(pathOf(target))) this.#addProblem('results', thread, status, reason);
  }

  /** Ends all long polls with 204. */
  close(): void {
    this.#isClosed = true;
    for (const end of [...this.#polls]) end();
  }

  /** A long poll: 200 as soon as there are new events, 204 on timeout (platforms). */
  readonly #changes = async (request: ApiRequest, session: Session): Promise<Reply> => {
    request.record();
    const query = request.changes();
    if (!query.ok) return request.answer(422, { detail: query.details });
    const { from_index: from, limit, include_events: withEvents, wait_for_seconds: seconds } = query.value;
    const ms = Math.min(seconds, MAX.waitSeconds) * 1_000;
    const hasEvents = () => session.events.length > from;
    const isWanted = await this.#news(
      session,
      ms,
      () => hasEvents() || session.isOver,
      request.incoming.onGone,
    );
    if (!isWanted) return request.gone();
    if (!hasEvents()) return request.answer(204);
    const events = session.events.slice(from, from + limit);
    return request.answer(200, changesView(session, withEvents ? events : []));
  };

  /** Waits up to `ms`; false if the client disconnected meanwhile. */
  #news(session: Session, ms: number, isThere: () => boolean, onGone: Incoming['onGone']): Promise<boolean> {
    if (ms <= 0 || this.#isClosed || isThere()) return Promise.resolve(true);
    return new Promise(resolve => {
      const done = (isWanted: boolean) => {
        cancel();
        unwatch();
        this.#polls.delete(end);
        resolve(isWanted);
      };
      const end = () => done(true);
      const cancel = this.#options.clock.after(ms, end);
      const unwatch = session.onChange(() => {
        if (isThere()) end();
      });
      this.#polls.add(end);
      onGone?.(() => done(false));
    });
  }

  /** Creates a session, which plays the script from its start. The same `Idempotency-Key` returns the same session (platforms). */
  #create(request: ApiRequest): Answer {
    const { headers, body } = request.incoming;
    const key = headers['idempotency-key'];
    const name = typeof key === 'string' ? key : undefined;
    const before = name === undefined ? undefined : this.#created.get(name);
    const digest = sha256(body).toString('hex');
    if (before?.digest === digest)
      return request.answer(201, sessionView(before.session), { thread: before.session.id });
    if (before) return request.refuseKey(name);
    const creation = request.creation();
    if (!creation.ok) return request.refuse(422, creation.details);
    if (this.sessions.size >= MAX.sessions)
      return request.refuse(429, 'There are too many sessions; start the mock again.');
    if (!this.#hasRoom(body.length)) return request.refuse(429, TOO_LARGE);
    const { tools, written } = creation.value;
    const session = this.add(randomUUID(), tools, written, body.length);
    this.#used.add(session.id);
    if (name !== undefined) this.#created.set(name, { session, digest });
    const answer = request.answer(201, sessionView(session), { thread: session.id });
    this.#warnOfUndeclaredTools(session);
    session.start();
    return answer;
  }

  /** Warns if the script calls a tool that the client did not provide: script and client then do not match. */
  #warnOfUndeclaredTools({ id: thread, tools, script }: Session): void {
    const declared = new Set(tools.map(({ name }) => name));
    for (const name of new Set(script.rounds.flat().map(({ tool_name }) => tool_name))) {
      const message = `the script calls ${name}, which is not among the tools of the session: a real agent would not`;
      if (!declared.has(name)) this.#options.log.emit({ kind: 'warned', message, thread });
    }
  }

  readonly #takeMessages = (request: ApiRequest, session: Session): Answer => {
    const { body } = request.incoming;
    const messages = request.messages();
    if (!messages.ok) return request.answer(422, { detail: messages.details });
    if (session.isOver) return request.answer(409, { detail: 'Session has already finished.' });
    if (!session.canTake(messages.value) || !this.#hasRoom(body.length))
      return request.answer(429, { detail: TOO_MANY_EVENTS });
    const answer = request.answer(202);
    session.takeMessages(messages.value);
    return answer;
  };

  /** Accepts the results of pending calls (seed 001). The response is logged before the agent continues. */
  readonly #takeResults = (request: ApiRequest, session: Session): Answer => {
    const { body } = request.incoming;
    if (body.length > SMALL_RESULTS && !this.#hasRoom(body.length)) return request.refuse(429, TOO_LARGE);
    const { status, detail: why, settles, warnings } = judgeResults(session, body);
    request.record({ calls: settles.map(({ call }) => call.key) });
    for (const { message, key } of warnings)
      this.#options.log.emit({
        kind: 'warned',
        message,
        thread: session.id,
        ...(key !== undefined && { calls: [key] }),
      });
    const answer = why === undefined ? request.answer(status) : request.refuse(status, why);
    session.settle(settles);
    return answer;
  };

  #hasRoom(bytes: number): boolean {
    let sum = bytes;
    for (const session of this.sessions.values()) sum += session.bytes;
    return sum <= MAX.bytes;
  }

  /** @param path after `/api/v2/sessions`; null for any other path of the API */
  #route(
    method: Route['method'],
    path: '' | '/{id}' | `/{id}/${string}` | null,
    respond: Responder,
    { purpose = 'session', accepts, verifies }: Purpose = {},
  ): Route {
    const requestOf = (incoming: Incoming) => {
      const session = this.#sessionAt(incoming.target);
      return new ApiRequest(this.#options.log, purpose, incoming, session, (status, reason) =>
        this.#addProblem(verifies, session?.id, status, reason),
      );
    };
    /** Checks in this order, before reading the body: 401 without the key, 404 without such a session, 422 for another media type. */
    const first = (head: Head) => {
      const request = requestOf({ ...head, body: new Uint8Array(0), remote: '' });
      if (!this.#hasKey(head)) return request.refuse(401, UNAUTHORIZED, { message: UNAUTHORIZED });
      if (path?.startsWith('/{id}')) {
        if (!request.session) return request.refuse(404, NOT_FOUND);
        this.#used.add(request.session.id);
      }
      return request.refuseMediaType(accepts);
    };
    return {
      ...{ name: `${method} ${purpose}`, method, accepts: accepts ?? 'nothing', first },
      serves: path === null ? isBelowApi : target => templateOf(target) === path,
      handle: incoming => respond(requestOf(incoming)),
    };
  }

  /** Compares in constant time. */
  #hasKey({ headers: { authorization = '' } }: Head): boolean {
    const [, shown = ''] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    return timingSafeEqual(sha256(shown), this.#keyDigest);
  }

  #sessionAt(target: string): Session | undefined {
    const id = SESSION_PATH.exec(pathOf(target))?.groups?.['id'] ?? '';
    try {
      return this.sessions.get(decodeURIComponent(id));
    } catch {
      return undefined; // invalid percent-encoding
    }
  }

  #addProblem(verifies: Purpose['verifies'], session: string | undefined, status: number, reason: string) {
    if (!verifies) return;
    const what = verifies === 'session' && { what: verifies };
    this.#refused.add({ kind: 'refused', ...what, session: session ?? null, status, reason });
  }
}

function pause(request: ApiRequest, session: Session): Answer {
  if (!session.canPause) return request.answer(429, { detail: TOO_MANY_EVENTS });
  const answer = request.answer(202);
  session.pause();
  return answer;
}

/** Answers a path that no other route serves: 404, or 405 with the allowed methods. */
function notAllowed(request: ApiRequest, routes: readonly Route[]): Answer {
  const path = pathOf(request.incoming.target);
  const here = routes.filter(route => route.serves(path));
  if (here.length === 0) return request.answer(404, { detail: 'Not Found' });
  if (templateOf(path) !== '' && !request.session) return request.answer(404, { detail: NOT_FOUND });
  const allow = [...new Set(here.map(({ method }) => method))].join(', ');
  return request.answer(405, { detail: 'Method Not Allowed' }, { headers: { Allow: allow } });
}

function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? '';
}

/** A path below `/api/v2/sessions`, with `{id}` for the id. */
function templateOf(path: string): string | null {
  const { groups } = SESSION_PATH.exec(path) ?? {};
  if (!groups) return null;
  const { id, below } = groups;
  return `${id === undefined ? '' : '/{id}'}${below === undefined ? '' : `/${below}`}`;
}

function isBelowApi(path: string): boolean {
  return path === API || path.startsWith(`${API}/`);
}

function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest();
}

function statusView({ status, error, round }: Session) {
  return { status, error, steps: round + 1, usage_per_model: [], subagent_session_ids: [] };
}

function sessionView(session: Session) {
  const { id, request, answer, tools } = session;
  return { id, request, status: statusView(session), latest_answer: answer, tools, ...timesOf(session) };
}

function summaryView(session: Session) {
  const { id, request, status } = session;
  return { id, agent: isRecord(request) ? (request['agent'] ?? null) : null, status, ...timesOf(session) };
}

function changesView(
  { status, startedAt, finishedAt, error, answer, round }: Session,
  new_events: unknown[],
) {
  const times = { started_at: startedAt, finished_at: finishedAt };
  return { status, ...times, error, answer, metrics: { steps: round + 1 }, new_events };
}

function timesOf({ createdAt, startedAt, finishedAt }: Session) {
  return { created_at: createdAt, started_at: startedAt, finished_at: finishedAt };
}

/** One page of a list of the API. @param limits default and maximum page size */
function page(
  request: ApiRequest,
  limits: { readonly size: number; readonly max: number },
  all: readonly unknown[],
): Answer {
  const query = request.page(limits);
  if (!query.ok) return request.answer(422, { detail: query.details });
  const { page: number, size } = query.value;
  const items = all.slice((number - 1) * size, number * size);
  return request.answer(200, { items, page: number, total: all.length });
}
