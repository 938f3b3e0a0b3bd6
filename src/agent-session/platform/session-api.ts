import { createHash, timingSafeEqual } from 'node:crypto';
import type { RequestEvent } from '../../events/events.js';
import type { Log } from '../../events/log.js';
import type { SessionScript } from '../../fixtures/session-script-types.js';
import type { Denial, Incoming, Reply, Route } from '../../http/route.js';
import { LIMITS } from '../../util/limits.js';
import { ApiRequest } from './api-request.js';
import type { ChangeWaits } from './change-waits.js';
import { pageOf, selectEvents, selectSessions } from './listing.js';
import { compileTemplates, idIn, isApiPath } from './paths.js';
import { PlannedFaults } from './planned-faults.js';
import { readResults } from './posted-results.js';
import {
  mediaTypeProblem,
  readBody,
  readCreation,
  readHeader,
  readMessages,
  readQuery,
} from './read-request.js';
import { eventFilters, feedbackSchema, keySchema, SCHEMAS, sessionFilters } from './request-schemas.js';
import type { Session } from './session.js';
import type { SessionStore } from './session-store.js';
import { changesView, sessionView, statusView, summaryView } from './session-views.js';
import type { Webhooks } from './webhooks.js';

interface SessionApiOptions {
  /** What clients must send as `Authorization: Bearer …`. */
  readonly key: string;
  readonly script: SessionScript;
  readonly log: Log;
  readonly sessions: SessionStore;
  readonly waits: ChangeWaits;
  readonly webhooks: Webhooks;
}

/** Maximum time of a long poll, in s, if the script accepts lenient requests. */
const LONGEST_WAIT_S = 60;

const NOT_FOUND = 'Session not found.';

const NOT_SERVED = 'This path is not part of this mock.';

const UNAUTHORIZED = 'Invalid or missing API key.';

const TOO_LARGE = 'The sessions are too large together; start the mock again.';

interface RouteOptions {
  /** Default: `session`. */
  readonly purpose?: RequestEvent['purpose'];
  /** Default: `nothing`. */
  readonly accepts?: 'json' | 'json?';
  /** What the verification reports if the request is refused. */
  readonly verifies?: 'results' | 'session';
  /** The kind of request for the faults of the script. */
  readonly faulty?: keyof SessionScript['faults'];
}

/** A route before it is compiled. */
interface ApiRoute extends RouteOptions {
  readonly method: Route['method'];
  /** A template below `/api/v2`. */
  readonly path: string;
  /** Whether the path is that of a session, or of something below it. */
  readonly isOfSession?: boolean;
  readonly respond: (request: ApiRequest) => Reply | Promise<Reply>;
}

type SessionResponder = (request: ApiRequest, session: Session) => Reply | Promise<Reply>;

/** The HTTP API of a mock platform: its routes, and how each of them responds. */
export class SessionApi {
  readonly #keyDigest: Buffer;
  readonly #faults = new PlannedFaults();

  constructor(private readonly options: SessionApiOptions) {
    this.#keyDigest = sha256(options.key);
  }

  routes(): Route[] {
    const routes: readonly ApiRoute[] = [
      ...this.#collectionRoutes(),
      ...this.#readingRoutes(),
      ...this.#steeringRoutes(),
      ...this.options.webhooks.routes,
    ];
    const templateOf = compileTemplates(routes.map(({ path }) => path));
    const routesAt = (path: string) => routes.filter(route => route.path === templateOf(path));
    const respondElsewhere = (request: ApiRequest) =>
      refuseUnserved(request, routesAt(request.incoming.path));
    return [
      ...routes.map(route => this.#compile(route, path => route.path === templateOf(path))),
      this.#compile({ method: 'any', respond: respondElsewhere }, isApiPath),
    ];
  }

  /** Logs a request that the HTTP server refused: a body too large, a foreign Host, a web page. */
  onRefused({ status, detail: reason }: Denial, { method, path }: Incoming): void {
    const { log, sessions } = this.options;
    const message = `a request was refused with ${status} (${reason}): ${method} ${path}`;
    const session = this.#sessionAt(path)?.id;
    log.emit({ kind: 'warned', message, ...(session !== undefined && { thread: session }) });
    if (/\/tool_results$/.test(path)) sessions.addRefused({ what: 'results', session, status, reason });
  }

  #collectionRoutes(): ApiRoute[] {
    const accepts = this.options.script.switches.requests === 'lenient' ? 'json?' : 'json';
    return [
      { method: 'GET', path: '/sessions', respond: request => this.#list(request) },
      {
        method: 'POST',
        path: '/sessions',
        accepts,
        verifies: 'session',
        faulty: 'create',
        respond: request => this.#create(request),
      },
      { method: 'GET', path: '/sessions/quota', respond: request => this.#answerQuota(request) },
    ];
  }

  #readingRoutes(): ApiRoute[] {
    return [
      sessionRoute('GET', '', (request, session) => request.answer(200, sessionView(session))),
      sessionRoute('GET', '/status', (request, session) => request.answer(200, statusView(session)), {
        faulty: 'status',
      }),
      sessionRoute('GET', '/events', listEvents),
      sessionRoute('GET', '/changes', (request, session) => this.#answerChanges(request, session), {
        purpose: 'changes',
        faulty: 'changes',
      }),
    ];
  }

  #steeringRoutes(): ApiRoute[] {
    return [
      sessionRoute('POST', '/pause', this.#steer(202, 'pause')),
      sessionRoute('POST', '/resume', this.#steer(202, 'resume')),
      sessionRoute('POST', '/force_answer', this.#steer(202, 'forceAnswer')),
      sessionRoute('DELETE', '', this.#steer(204, 'cancel')),
      sessionRoute('POST', '/messages', (request, session) => this.#takeMessages(request, session), {
        purpose: 'message',
        accepts: 'json',
        faulty: 'messages',
      }),
      sessionRoute('POST', '/tool_results', (request, session) => this.#takeResults(request, session), {
        purpose: 'tool_results',
        accepts: 'json',
        verifies: 'results',
        faulty: 'tool_results',
      }),
      sessionRoute('POST', '/share', (request, { id }) => request.answer(200, { share_url: `/share/${id}` })),
      sessionRoute('DELETE', '/share', request => request.answer(204)),
      sessionRoute('POST', '/feedback', takeFeedback, { accepts: 'json' }),
      sessionRoute('PUT', '/events/{index}/feedback', takeFeedback, { accepts: 'json' }),
    ];
  }

  #compile(route: Omit<ApiRoute, 'path'>, serves: Route['serves']): Route {
    const { method, purpose = 'session', accepts, faulty, respond } = route;
    const { faults } = this.options.script;
    const faultOf = ({ session }: ApiRequest) =>
      faulty && this.#faults.next(`${faulty} ${session?.id ?? ''}`, faults[faulty]);
    return {
      name: `${method} ${purpose}`,
      method,
      accepts: accepts ?? 'nothing',
      first: incoming => this.#refuseEarly(this.#requestOf(incoming, new Uint8Array(0), route), route),
      serves,
      handle: (incoming, body) => {
        const request = this.#requestOf(incoming, body, route);
        return request.respondWith(respond, faultOf(request));
      },
    };
  }

  #requestOf(
    incoming: Incoming,
    body: Uint8Array,
    { purpose = 'session', verifies: what }: RouteOptions,
  ): ApiRequest {
    const { log, sessions, script } = this.options;
    const session = this.#sessionAt(incoming.path);
    const { requests } = script.switches;
    const onRefused = (status: number, reason: string) => {
      if (what) sessions.addRefused({ what, session: session?.id, status, reason });
    };
    return new ApiRequest({ log, purpose, incoming, body, session, requests, onRefused });
  }

  /** Checks in this order, before the body is read: 401 without the key, 404 without such a session, 422 for another media type. */
  #refuseEarly(request: ApiRequest, { isOfSession, accepts }: Omit<ApiRoute, 'path'>): Reply | undefined {
    if (!this.#hasKey(request.incoming)) return request.refuse(401, UNAUTHORIZED);
    if (isOfSession) {
      if (!request.session) return request.refuse(404, NOT_FOUND);
      this.options.sessions.markUsed(request.session);
    }
    const problem = accepts ? mediaTypeProblem(request.incoming, accepts) : null;
    return problem ? request.refuse(422, [problem]) : undefined;
  }

  /** Compares in constant time. */
  #hasKey({ headers: { authorization = '' } }: Incoming): boolean {
    const [, shown = ''] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    return timingSafeEqual(sha256(shown), this.#keyDigest);
  }

  #sessionAt(path: string): Session | undefined {
    const id = idIn(path, 'sessions');
    return id === null ? undefined : this.options.sessions.find(id);
  }

  #list(request: ApiRequest): Reply {
    const filters = readQuery(request.incoming, sessionFilters, ['status', 'agent', 'sort']);
    const found = selectSessions(this.options.sessions.all(), filters);
    return request.answer(200, pageOf(found, request, { size: 10, max: 100 }, summaryView));
  }

  #answerQuota(request: ApiRequest): Reply {
    const { sessions } = this.options;
    const { limit } = sessions;
    const active = sessions.all().filter(({ isOver }) => !isOver).length;
    return request.answer(200, { scope: 'org', limit, active, available: limit - active });
  }

  /** Creates a session, which plays the script from its start. The same `Idempotency-Key` returns the same session. */
  #create(request: ApiRequest): Reply {
    const { sessions, script } = this.options;
    const { incoming, body } = request;
    const key = readHeader(incoming, 'Idempotency-Key', keySchema);
    const earlier = key === undefined ? undefined : sessions.createdWith(key, body);
    if (earlier) return request.answer(201, sessionView(earlier), { thread: earlier.id });
    const creation = readCreation(incoming, body, script.switches.requests);
    if (sessions.isFull)
      return request.refuseOverCapacity('There are too many sessions; start the mock again.');
    if (!sessions.hasRoom(body.length)) return request.refuseOverCapacity(TOO_LARGE);
    const session = sessions.create(creation, body, key);
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
      if (!declared.has(name)) this.options.log.emit({ kind: 'warned', message, thread });
    }
  }

  /** Answers a long poll: 200 as soon as there are new events, 204 on timeout. */
  async #answerChanges(request: ApiRequest, session: Session): Promise<Reply> {
    request.record(); // an open long poll is visible
    const { changes } = SCHEMAS[this.options.script.switches.requests];
    const {
      from_index: from,
      limit,
      include_events: withEvents,
      wait_for_seconds: seconds,
    } = readQuery(request.incoming, changes);
    const hasEvents = () => session.events.length > Math.max(0, from);
    const isThere = () => hasEvents() || session.isOver;
    const ms = Math.min(seconds, LONGEST_WAIT_S) * 1_000;
    if (!(await this.options.waits.wait(session, ms, isThere, request.incoming)))
      return request.recordDisconnect();
    if (!hasEvents()) return request.answer(204);
    const first = Math.max(from, session.firstEvent);
    const events = session.events.slice(first, first + (limit ?? session.events.length));
    return request.answer(200, changesView(session, withEvents ? events : [], first));
  }

  /** The response is logged before the events that follow from it. */
  #steer(status: number, step: 'pause' | 'resume' | 'forceAnswer' | 'cancel'): SessionResponder {
    return (request, session) => {
      if (step === 'pause' && !this.options.sessions.hasRoom(0)) return request.refuseOverCapacity(TOO_LARGE);
      const answer = request.answer(status);
      session[step]();
      return answer;
    };
  }

  #takeMessages(request: ApiRequest, session: Session): Reply {
    const messages = readMessages(request.body, session);
    if (!this.options.sessions.hasRoom(request.body.length)) return request.refuseOverCapacity(TOO_LARGE);
    const answer = request.answer(202);
    session.takeMessages(messages);
    return answer;
  }

  /** Accepts the results of pending calls (seed 001). The response is logged before the agent continues. */
  #takeResults(request: ApiRequest, session: Session): Reply {
    const { log, sessions } = this.options;
    const { body } = request;
    if (body.length > LIMITS.smallResultBytes.value && !sessions.hasRoom(body.length))
      return request.refuseOverCapacity(TOO_LARGE);
    const { settles, warnings, details } = readResults(body, session);
    request.record({ calls: settles.map(({ call }) => call.key) });
    for (const { message, key } of warnings)
      log.emit({ kind: 'warned', message, thread: session.id, ...(key && { calls: [key] }) });
    const answer = details.length > 0 ? request.refuse(422, details) : request.answer(202);
    session.settle(settles);
    return answer;
  }
}

/** A route below one session. */
function sessionRoute(
  method: Route['method'],
  path: string,
  respond: SessionResponder,
  options?: RouteOptions,
): ApiRoute {
  const respondIfFound = (request: ApiRequest) =>
    request.session ? respond(request, request.session) : request.refuse(404, NOT_FOUND);
  return {
    method,
    path: `/sessions/{id}${path}`,
    isOfSession: true,
    respond: respondIfFound,
    ...options,
  };
}

/** Answers a request that no route serves: 404, or 405 with the allowed methods. @param routes those of its path */
function refuseUnserved(request: ApiRequest, routes: readonly ApiRoute[]): Reply {
  if (routes.length === 0) return request.refuse(404, NOT_SERVED);
  if (routes.some(({ isOfSession }) => isOfSession) && !request.session)
    return request.refuse(404, NOT_FOUND);
  const allow = [...new Set(routes.map(({ method }) => method))].join(', ');
  return request.refuse(405, 'Method Not Allowed', { headers: { Allow: allow } });
}

function listEvents(request: ApiRequest, { events }: Session): Reply {
  const filters = readQuery(request.incoming, eventFilters, ['sort']);
  return request.answer(200, pageOf(selectEvents(events, filters), request, { size: 50, max: 200 }));
}

/** Feedback is read, and changes nothing. */
function takeFeedback(request: ApiRequest): Reply {
  readBody(request.body, feedbackSchema);
  return request.answer(204);
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
