import { createHash, timingSafeEqual } from 'node:crypto';
import { Content } from '../../events/content.js';
import type { RequestEvent } from '../../events/events.js';
import type { Log } from '../../events/log.js';
import type { FindingsCollector, SessionProblem } from '../../events/verification-report.js';
import type { SessionScript } from '../../fixtures/session-script.js';
import {
  type Answer,
  type Head,
  hasBody,
  type Incoming,
  type Reply,
  type Route,
} from '../../http/request-body.js';
import { redactHeaders } from '../../util/redact.js';
import { mediaTypeOf } from '../../util/strings.js';
import { type Detail, detail, NOT_FOUND } from './judge-results.js';
import type { Session } from './session-state.js';
import type { NewsWait } from './store.js';

interface About {
  readonly purpose: RequestEvent['purpose'];
  /** The session, where there is one. */
  readonly thread?: string | undefined;
  /** Keys of the calls it concerns. */
  readonly calls?: readonly string[] | undefined;
}

/** A request that a client makes to the platform, and what it is answered, as facts; its key is kept nowhere (threats, row 25). */
class Served {
  readonly #leg: string;
  readonly #about: { readonly calls?: string[]; readonly thread?: string };

  constructor(
    private readonly log: Log,
    incoming: Head & { readonly body: Uint8Array },
    { purpose, thread, calls }: About,
  ) {
    this.#about = { ...(calls && { calls: [...calls] }), ...(thread !== undefined && { thread }) };
    this.#leg = log.leg();
    log.emit({
      kind: 'request',
      leg: this.#leg,
      from: 'client',
      to: 'platform',
      purpose,
      dialect: 'session',
      method: incoming.method,
      url: incoming.target,
      headers: redactHeaders(namesAndValues(incoming)),
      attempt: 1,
      ...this.#about,
      ...(incoming.body.length > 0 && { body: new Content(incoming.body) }),
    });
  }

  /** An answer without a body. */
  empty(status: number): Answer {
    return this.#answer({ status });
  }

  json(status: number, value: unknown, headers: Answer['headers'] = {}): Answer {
    return this.#answer(jsonAnswer(status, value, headers));
  }

  /** Whoever asked did not wait for the answer. */
  gone(): Reply {
    this.log.emit({ kind: 'broken', leg: this.#leg, phase: 'answer', code: 'ECONNRESET', ...this.#about });
    return 'reset';
  }

  #answer(answer: Answer): Answer {
    const { status, body } = answer;
    const content = typeof body === 'string' ? { body: new Content(Buffer.from(body)) } : {};
    this.log.emit({ kind: 'response', leg: this.#leg, status, headers: {}, ...this.#about, ...content });
    return answer;
  }
}

function jsonAnswer(status: number, value: unknown, headers: Answer['headers']): Answer {
  return { status, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(value) };
}

function namesAndValues({ headers }: Head): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** What the routes of a platform work with. */
export interface Api extends NewsWait {
  readonly log: Log;
  readonly key: string;
  readonly script: SessionScript;
  /** Posts of results and creations of sessions that were not accepted. */
  readonly refused: FindingsCollector<SessionProblem>;
}

type Purpose = ConstructorParameters<typeof Served>[2]['purpose'];

interface Endpoint {
  readonly method: Route['method'];
  readonly purpose: Purpose;
  /** What it reads of a request; `nothing` unless told. */
  readonly accepts?: Route['accepts'];
  /** Whether its path names a session, which must be there. */
  readonly ofSession?: boolean;
  /** What a refusal of it is, to the verification; nothing unless told. */
  readonly verifies?: 'results' | 'session';
}

const API = '/api/v2';
const SESSIONS = `${API}/sessions`;
const ONE = /^\/api\/v2\/sessions\/([^/]+)(?:\/([^/]+))?$/;

/** The id in the path of a request; empty where there is none that could be meant. */
export function idIn(incoming: Pick<Incoming, 'target'>): string {
  const [, id = ''] = ONE.exec(pathOf(incoming)) ?? [];
  try {
    return decodeURIComponent(id);
  } catch {
    return '';
  }
}

function pathOf({ target }: Pick<Incoming, 'target'>): string {
  return target.split('?', 1)[0] ?? '';
}

type Refused = Extract<SessionProblem, { kind: 'refused' }>;

/** A post of results that is not accepted is a finding of the verification, and so is a session that could not be created. */
export function refuse({ refused }: Api, about: Omit<Refused, 'kind'>): void {
  refused.add({ kind: 'refused', ...about });
}

/** The first fault stands for all. */
export function reasonOf(detail: string | readonly Detail[]): string {
  if (typeof detail === 'string') return detail;
  const [first] = detail;
  return first ? `${first.loc.join('.')}: ${first.msg}` : '';
}

/** Whether a request shows the key as `Authorization: Bearer …`; compared in constant time. */
export function keyCheck(key: string): (incoming: Pick<Head, 'headers'>) => boolean {
  const wanted = digest(key);
  return ({ headers: { authorization = '' } }) => {
    const [, shown = ''] = /^Bearer +(\S+) *$/i.exec(authorization) ?? [];
    return timingSafeEqual(digest(shown), wanted);
  };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** Why a request is answered before its body is read. */
interface Why {
  readonly status: number;
  readonly body: object;
  readonly reason: string;
}

const UNAUTHORISED = 'Invalid or missing API key.';

/**
 * What a request is answered by its head alone: 401 without the key, whatever else it is; then 404 where there is no such session; then
 * 422 for a body that is said to be no JSON. Of its body nothing is read, and nothing kept.
 */
function firstAnswers(
  api: Api,
  { purpose, accepts, ofSession, verifies }: Endpoint,
): (head: Head) => Answer | undefined {
  const hasKey = keyCheck(api.key);
  const judge = (head: Head): Why | undefined => {
    if (!hasKey(head)) return { status: 401, body: { message: UNAUTHORISED }, reason: UNAUTHORISED };
    const session = api.store.get(idIn(head));
    if (ofSession && !session) return { status: 404, body: { detail: NOT_FOUND }, reason: NOT_FOUND };
    if (ofSession && session) api.store.touch(session.id);
    const misfit = contentFault(head, accepts);
    return misfit && { status: 422, body: { detail: [misfit] }, reason: misfit.msg };
  };
  return head => {
    const why = judge(head);
    if (!why) return undefined;
    const thread = api.store.get(idIn(head))?.id;
    const { status, body, reason } = why;
    const what = verifies === 'session' ? { what: verifies } : {};
    if (verifies) refuse(api, { ...what, session: thread ?? null, status, reason });
    const bodiless = { ...head, body: new Uint8Array(0) };
    return new Served(api.log, bodiless, { purpose, thread }).json(status, body);
  };
}

function contentFault({ headers }: Head, accepts: Endpoint['accepts'] = 'nothing'): Detail | undefined {
  const { 'content-type': type } = headers;
  const isBare = accepts === 'json?' && type === undefined && !hasBody({ headers });
  if (accepts === 'nothing' || isBare || mediaTypeOf(type ?? '') === 'application/json') return undefined;
  return detail(
    'content_type',
    ['header', 'Content-Type'],
    "Input should be 'application/json'",
    type ?? null,
  );
}

/** A request that showed the key, on its way to an answer. */
export interface Asked {
  readonly incoming: Incoming;
  readonly api: Api;
  /** To be called once, before the answer; `about` says what is known of its calls by then. */
  readonly serve: (about?: { readonly thread?: string; readonly calls?: readonly string[] }) => Served;
}

/** `/api/v2/sessions`, for those who have the key. */
export function collectionRoute(
  api: Api,
  endpoint: Endpoint,
  handle: (asked: Asked) => Reply | Promise<Reply>,
): Route {
  return guarded(api, endpoint, path => path === SESSIONS, handle);
}

interface Below extends Endpoint {
  /** What comes after the id; nothing unless told. */
  readonly name?: string;
}

/** `/api/v2/sessions/{id}` and what is below it; 404 where there is no such session. */
export function sessionRoute(
  api: Api,
  endpoint: Below,
  handle: (asked: Asked & { readonly session: Session }) => Reply | Promise<Reply>,
): Route {
  return idRoute(api, endpoint, ({ session, ...asked }) =>
    session ? handle({ ...asked, session }) : asked.serve().json(404, { detail: NOT_FOUND }),
  );
}

/** As {@link sessionRoute}, for whoever judges by themselves whether there is such a session. */
export function idRoute(
  api: Api,
  { name, ...endpoint }: Below,
  handle: (asked: Asked & { readonly session: Session | undefined }) => Reply | Promise<Reply>,
): Route {
  const serves = (path: string) => {
    const [found, , below] = ONE.exec(path) ?? [];
    return found !== undefined && below === name;
  };
  return guarded(api, { ...endpoint, ofSession: true }, serves, asked =>
    handle({ ...asked, session: api.store.get(idIn(asked.incoming)) }),
  );
}

/** Any path of the API: who has no key learns nothing but that (401 before 404), by whichever method. */
export function elsewhereRoute(api: Api, routes: readonly Route[]): Route {
  const serves = (path: string) => path === API || path.startsWith(`${API}/`);
  return guarded(api, { method: 'any', purpose: 'session' }, serves, ({ incoming, serve }) => {
    const here = routes.filter(route => route.serves(pathOf(incoming)));
    if (here.length === 0) return serve().json(404, { detail: 'Not Found' });
    if (ONE.test(pathOf(incoming)) && !api.store.get(idIn(incoming)))
      return serve().json(404, { detail: NOT_FOUND });
    const methods = [...new Set(here.map(({ method }) => method))].join(', ');
    return serve().json(405, { detail: 'Method Not Allowed' }, { Allow: methods });
  });
}

function guarded(
  api: Api,
  endpoint: Endpoint,
  serves: Route['serves'],
  handle: (asked: Asked) => Reply | Promise<Reply>,
): Route {
  const { method, purpose, accepts = 'nothing' } = endpoint;
  return {
    name: `${method} ${purpose}`,
    method,
    accepts,
    serves,
    first: firstAnswers(api, endpoint),
    handle: incoming => {
      const thread = api.store.get(idIn(incoming))?.id;
      const serve: Asked['serve'] = about => new Served(api.log, incoming, { purpose, thread, ...about });
      return handle({ incoming, api, serve });
    },
  };
}
