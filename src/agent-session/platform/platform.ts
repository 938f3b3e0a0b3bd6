import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { EventRing } from '../../events/bounded-events.js';
import type { Event, RequestEvent } from '../../events/events.js';
import { createLog, type Listener, type Log } from '../../events/log.js';
import { defaultSessionScript, type SessionScript } from '../../fixtures/session-script.js';
import { allowedDestinations } from '../../http/addresses.js';
import type { Answer, Denial, Incoming, Reply, Route } from '../../http/route.js';
import { type RunningServer, startServer } from '../../http/server.js';
import { isSettledStatus } from '../../protocol/session.js';
import { type Clock, systemClock } from '../../system/clock.js';
import { FindingsCollector } from '../../util/collections.js';
import { ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import type { SessionProblem, SessionVerificationReport } from '../../verification/report.js';
import { ApiRequest } from './api-request.js';
import { selectEvents, selectSessions } from './listing.js';
import { idIn, isOfSession, NOT_FOUND, notAllowed, templateOf } from './paths.js';
import { PlannedFaults } from './planned-faults.js';
import { eventFilters, feedbackSchema, keySchema, sessionFilters } from './request-schemas.js';
import { Session } from './session.js';
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

/** Maximum time of a long poll, in s, if the script accepts lenient requests. */
const LONGEST_WAIT_S = 60;

/** Shorter than the default timeout of test runners, so that they show our message. */
const PATIENCE_MS = 4_000;

/** Id of the session that exists from the start. */
const FIRST_SESSION = '00000000-0000-4000-8000-000000000001';

/** How refusals name the URL of a webhook, and the option that allows it. */
const WEBHOOKS = { name: 'URL of the webhook', those: 'webhooks', option: '--allow-webhook' };

const UNAUTHORIZED = 'Invalid or missing API key.';

/** The number of sessions that can be active, as the mock's quota says. */
const QUOTA = LIMITS.sessions.value;

const TOO_LARGE = 'The sessions are too large together; start the mock again.';

interface Purpose {
  /** Default: `session`. */
  readonly purpose?: RequestEvent['purpose'];
  /** Default: `nothing`. */
  readonly accepts?: 'json' | 'json?';
  /** What the verification reports if the request is refused. */
  readonly verifies?: 'results' | 'session';
  /** The kind of request for the faults of the script. */
  readonly faulty?: keyof SessionScript['faults'];
}

const TOOL_RESULTS: Purpose = {
  purpose: 'tool_results',
  accepts: 'json',
  verifies: 'results',
  faulty: 'tool_results',
};

type Responder = (request: ApiRequest, session: Session) => Reply | Promise<Reply>;

/** A mock platform of agent sessions, whose agent follows a script: the HTTP API with its sessions. */
export class SessionPlatform implements AsyncDisposable {
  /** The API key, which clients send as `Authorization: Bearer …`. */
  readonly key: string;
  /** The id of the session that exists from the start; clients can create others. */
  readonly session = FIRST_SESSION;
  readonly #script: SessionScript;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #ring = new EventRing();
  readonly #keyDigest: Buffer;
  readonly #sessions = new Map<string, Session>();
  readonly #refused = new FindingsCollector<SessionProblem>();
  /** Ids of the sessions that clients used. */
  readonly #used = new Set<string>();
  /** Sessions by `Idempotency-Key`. */
  readonly #created = new Map<string, { readonly session: Session; readonly digest: string }>();
  readonly #faults = new PlannedFaults();
  readonly #webhooks: Webhooks;
  /** Functions that end the open waits for a change. */
  readonly #waits = new Set<() => void>();
  #server: RunningServer | undefined;
  #closed: Promise<void> | undefined;

  private constructor(options: SessionPlatformOptions) {
    const { script = defaultSessionScript(), clock = systemClock } = options;
    const { key = randomBytes(24).toString('base64url'), log = createLog(() => clock.now()) } = options;
    const { allowWebhooks = [], onSecret = () => {} } = options;
    requireSendable(key);
    this.key = key;
    this.#keyDigest = sha256(key);
    this.#script = script;
    this.#log = log;
    this.#clock = clock;
    log.subscribe(event => this.#ring.push(event));
    const destinationProblem = allowedDestinations(allowWebhooks, WEBHOOKS);
    this.#webhooks = new Webhooks({ log, clock, destinationProblem, onSecret });
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
      routes: platform.#routes(),
      onRefused: (denial, request) => platform.#onRefused(denial, request),
    });
    platform.#add(FIRST_SESSION).start();
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
    return Array.from(this.#sessions.values(), stateOf);
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
    const session = this.#sessions.get(id);
    if (!session) throw new Error(`no session "${id}"`);
    const isSettled = () => isSettledStatus(session.status);
    await this.#wait(session, timeoutMs, isSettled);
    if (!isSettled())
      throw new Error(`the session "${id}" did not settle within ${timeoutMs} ms; ${statusText(session)}`);
    return stateOf(session);
  }

  /** What is unanswered, unexpected, unreached or refused in the sessions that clients used; in all sessions if they used none. */
  verify(): SessionVerificationReport {
    const all = [...this.#sessions.values()];
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

  /** Ends long polls with 204, and deliveries of webhooks, then stops the server. */
  close(): Promise<void> {
    for (const end of [...this.#waits]) end();
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

  #routes(): Route[] {
    const routes = [
      this.#route('GET', '/sessions', request => this.#list(request)),
      this.#route('POST', '/sessions', request => this.#create(request), {
        accepts: this.#script.switches.requests === 'lenient' ? 'json?' : 'json',
        verifies: 'session',
        faulty: 'create',
      }),
      this.#route('GET', '/sessions/quota', request => this.#answerQuota(request)),
      this.#sessionRoute('GET', '', (request, { view }) => request.answer(200, view)),
      this.#sessionRoute('GET', '/status', (request, { statusView }) => request.answer(200, statusView), {
        faulty: 'status',
      }),
      this.#sessionRoute('GET', '/events', (request, { events }) =>
        request.answerPage(selectEvents(events, request.query(eventFilters, ['sort'])), {
          size: 50,
          max: 200,
        }),
      ),
      this.#sessionRoute('GET', '/changes', this.#changes, { purpose: 'changes', faulty: 'changes' }),
      this.#sessionRoute('POST', '/pause', this.#steer(202, 'pause')),
      this.#sessionRoute('POST', '/resume', this.#steer(202, 'resume')),
      this.#sessionRoute('POST', '/force_answer', this.#steer(202, 'forceAnswer')),
      this.#sessionRoute('DELETE', '', this.#steer(204, 'cancel')),
      this.#sessionRoute('POST', '/messages', this.#takeMessages, {
        purpose: 'message',
        accepts: 'json',
        faulty: 'messages',
      }),
      this.#sessionRoute('POST', '/tool_results', this.#takeResults, TOOL_RESULTS),
      this.#sessionRoute('POST', '/share', (request, { id }) =>
        request.answer(200, { share_url: `/share/${id}` }),
      ),
      this.#sessionRoute('DELETE', '/share', request => request.answer(204)),
      this.#sessionRoute('POST', '/feedback', takeFeedback, { accepts: 'json' }),
      this.#sessionRoute('PUT', '/events/{index}/feedback', takeFeedback, { accepts: 'json' }),
    ];
    for (const { method, path, respond, accepts } of this.#webhooks.routes)
      routes.push(this.#route(method, path, respond, accepts && { accepts }));
    return [...routes, this.#route('any', null, request => notAllowed(request, routes))];
  }

  #list(request: ApiRequest): Answer {
    const filters = request.query(sessionFilters, ['status', 'agent', 'sort']);
    const found = selectSessions(this.#sessions.values(), filters);
    return request.answerPage(found, { size: 10, max: 100 }, ({ summary }) => summary);
  }

  #answerQuota(request: ApiRequest): Answer {
    const active = [...this.#sessions.values()].filter(({ isOver }) => !isOver).length;
    return request.answer(200, { scope: 'org', limit: QUOTA, active, available: QUOTA - active });
  }

  /** The response is logged before the events that follow from it. */
  #steer(status: number, step: 'pause' | 'resume' | 'forceAnswer' | 'cancel'): Responder {
    return (request, session) => {
      if (step === 'pause' && !this.#hasRoom(0)) return request.refuseForRoom(TOO_LARGE);
      const answer = request.answer(status);
      session[step]();
      return answer;
    };
  }

  /** Adds a session that has not started. */
  #add(id: string, creation?: ConstructorParameters<typeof Session>[4]): Session {
    const session = new Session(id, this.#script, this.#log, this.#clock, creation);
    this.#sessions.set(id, session);
    return session;
  }

  /** Logs a request that the HTTP server refused: a body too large, a foreign Host, a web page. */
  #onRefused({ status, detail: reason }: Denial, { method, path }: Incoming): void {
    const message = `a request was refused with ${status} (${reason}): ${method} ${path}`;
    const thread = this.#sessionAt(path)?.id;
    this.#log.emit({ kind: 'warned', message, ...(thread !== undefined && { thread }) });
    if (/\/tool_results$/.test(path)) this.#addProblem('results', thread, status, reason);
  }

  /** A long poll: 200 as soon as there are new events, 204 on timeout. */
  readonly #changes = async (request: ApiRequest, session: Session): Promise<Reply> => {
    request.record(); // an open long poll is visible
    const {
      from_index: from,
      limit,
      include_events: withEvents,
      wait_for_seconds: seconds,
    } = request.changes();
    const hasEvents = () => session.events.length > Math.max(0, from);
    const isThere = () => hasEvents() || session.isOver;
    const ms = Math.min(seconds, LONGEST_WAIT_S) * 1_000;
    if (!(await this.#wait(session, ms, isThere, request.incoming))) return request.gone();
    if (!hasEvents()) return request.answer(204);
    const first = Math.max(from, session.firstEvent);
    const events = session.events.slice(first, first + (limit ?? session.events.length));
    return request.answer(200, session.changesView(withEvents ? events : [], first));
  };

  /** Waits for a change up to `ms`, or until the platform closes; false if the client disconnected meanwhile. */
  #wait(session: Session, ms: number, isThere: () => boolean, incoming?: Incoming): Promise<boolean> {
    if (ms <= 0 || this.#closed || isThere()) return Promise.resolve(true);
    return new Promise(resolve => {
      const done = (isWanted: boolean) => {
        cancel();
        unwatch();
        this.#waits.delete(end);
        resolve(isWanted);
      };
      const end = () => done(true);
      const cancel = this.#clock.after(ms, end);
      const unwatch = session.onEvent(() => {
        if (isThere()) end();
      });
      this.#waits.add(end);
      incoming?.onGone(() => done(false));
    });
  }

  /** Creates a session, which plays the script from its start. The same `Idempotency-Key` returns the same session. */
  #create(request: ApiRequest): Answer {
    const { body } = request;
    const name = request.header('Idempotency-Key', keySchema);
    const before = name === undefined ? undefined : this.#created.get(name);
    const digest = sha256(body).toString('hex');
    if (before?.digest === digest)
      return request.answer(201, before.session.view, { thread: before.session.id });
    if (before) return request.refuseKey(name);
    const creation = request.creation();
    if (this.#sessions.size >= LIMITS.sessions.value)
      return request.refuseForRoom('There are too many sessions; start the mock again.');
    if (!this.#hasRoom(body.length)) return request.refuseForRoom(TOO_LARGE);
    const session = this.#add(randomUUID(), { ...creation, size: body.length });
    this.#used.add(session.id);
    if (name !== undefined) this.#created.set(name, { session, digest });
    const answer = request.answer(201, session.view, { thread: session.id });
    this.#warnOfUndeclaredTools(session);
    session.start();
    return answer;
  }

  /** Warns if the script calls a tool that the client did not provide: script and client then do not match. */
  #warnOfUndeclaredTools({ id: thread, tools, script }: Session): void {
    const declared = new Set(tools.map(({ name }) => name));
    for (const name of new Set(script.rounds.flat().map(({ tool_name }) => tool_name))) {
      const message = `the script calls ${name}, which is not among the tools of the session: a real agent would not`;
      if (!declared.has(name)) this.#log.emit({ kind: 'warned', message, thread });
    }
  }

  readonly #takeMessages = (request: ApiRequest, session: Session): Answer => {
    const messages = request.messages(session);
    if (!this.#hasRoom(request.body.length)) return request.refuseForRoom(TOO_LARGE);
    const answer = request.answer(202);
    session.takeMessages(messages);
    return answer;
  };

  /** Accepts the results of pending calls (seed 001). The response is logged before the agent continues. */
  readonly #takeResults = (request: ApiRequest, session: Session): Answer => {
    const { body } = request;
    if (body.length > LIMITS.smallResultBytes.value && !this.#hasRoom(body.length))
      return request.refuseForRoom(TOO_LARGE);
    const { settles, warnings, details } = request.results(session);
    request.record({ calls: settles.map(({ call }) => call.key) });
    for (const { message, key } of warnings)
      this.#log.emit({ kind: 'warned', message, thread: session.id, ...(key && { calls: [key] }) });
    const answer = details.length > 0 ? request.refuse(422, details) : request.answer(202);
    session.settle(settles);
    return answer;
  };

  #hasRoom(bytes: number): boolean {
    let sum = bytes;
    for (const session of this.#sessions.values()) sum += session.bytes;
    return sum <= LIMITS.sessionBytes.value;
  }

  /** A route below one session. */
  #sessionRoute(method: Route['method'], path: string, respond: Responder, purpose?: Purpose): Route {
    const handle = (request: ApiRequest) =>
      request.session ? respond(request, request.session) : request.refuse(404, NOT_FOUND);
    return this.#route(method, `/sessions/{id}${path}`, handle, purpose);
  }

  /** @param path below `/api/v2`; null for any other path of the API */
  #route(
    method: Route['method'],
    path: string | null,
    respond: (request: ApiRequest) => Reply | Promise<Reply>,
    { purpose = 'session', accepts, verifies, faulty }: Purpose = {},
  ): Route {
    const requestOf = (incoming: Incoming, body: Uint8Array) => {
      const session = this.#sessionAt(incoming.path);
      const { requests } = this.#script.switches;
      return new ApiRequest(this.#log, purpose, incoming, body, session, requests, (status, reason) =>
        this.#addProblem(verifies, session?.id, status, reason),
      );
    };
    const { faults } = this.#script;
    const faultOf = ({ session }: ApiRequest) =>
      faulty && this.#faults.next(`${faulty} ${session?.id ?? ''}`, faults[faulty]);
    /** Checks in this order, before reading the body: 401 without the key, 404 without such a session, 422 for another media type. */
    const first: Route['first'] = incoming => {
      const request = requestOf(incoming, new Uint8Array(0));
      if (!this.#hasKey(incoming)) return request.refuse(401, UNAUTHORIZED);
      if (isOfSession(path)) {
        if (!request.session) return request.refuse(404, NOT_FOUND);
        this.#used.add(request.session.id);
      }
      return request.refuseMediaType(accepts);
    };
    return {
      name: `${method} ${purpose}`,
      method,
      accepts: accepts ?? 'nothing',
      first,
      serves:
        path === null ? target => /^\/api\/v2(?:\/|$)/.test(target) : target => templateOf(target) === path,
      handle: (incoming, body) => {
        const request = requestOf(incoming, body);
        return request.handledBy(respond, faultOf(request));
      },
    };
  }

  /** Compares in constant time. */
  #hasKey({ headers: { authorization = '' } }: Incoming): boolean {
    const [, shown = ''] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    return timingSafeEqual(sha256(shown), this.#keyDigest);
  }

  #sessionAt(path: string): Session | undefined {
    return this.#sessions.get(idIn(path, 'sessions'));
  }

  #addProblem(verifies: Purpose['verifies'], session: string | undefined, status: number, reason: string) {
    if (!verifies) return;
    if (status === 409) {
      const message = `results came after the session had ended: ${reason}`;
      this.#log.emit({ kind: 'warned', message, ...(session !== undefined && { thread: session }) });
      return;
    }
    const what = verifies === 'session' && { what: verifies };
    this.#refused.add({ kind: 'refused', ...what, session: session ?? null, status, reason });
  }
}

/** Feedback is read, and changes nothing. */
function takeFeedback(request: ApiRequest): Answer {
  request.parsed(feedbackSchema);
  return request.answer(204);
}

function sha256(data: string | Uint8Array): Buffer {
  return createHash('sha256').update(data).digest();
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
