import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import type { Fact } from '../../events/events.js';
import { declaredTools } from '../../fixtures/session-script.js';
import type { Answer, Incoming, Route } from '../../http/request-body.js';
import { isTerminal } from '../../protocol/callbacks.js';
import { readJson } from '../../util/json.js';
import { isRecord } from '../../util/json-diagnosis.js';
import { valueAt } from '../../util/redact-json.js';
import { type Detail, detail, read } from './judge-results.js';
import { type Api, type Asked, collectionRoute, reasonOf, refuse, sessionRoute } from './routes.js';
import { createSession, type Session, start } from './session-state.js';
import { changesView, pageView, sessionView, statusView, summaryView, untilNews } from './store.js';

const toolsSchema = z.array(
  z.object({
    name: z.string(),
    description: z.optional(z.string()),
    input_schema: z.optional(z.record(z.string(), z.unknown())),
  }),
);

const requestSchema = z.object({
  agent: z.optional(z.union([z.string(), z.object({ tools: z.optional(toolsSchema) })])),
  overrides: z.optional(z.object({ 'agent.tools': z.optional(toolsSchema) })),
});

type Request = z.infer<typeof requestSchema>;
/** A key of theirs, the session that it made, and of what. */
type Made = Map<string, { readonly id: string; readonly digest: string }>;

const LONGEST_KEY = 128;
const TOO_LARGE = 'The sessions are too large together; start the mock again.';

/** Each session plays the script anew. With the same `Idempotency-Key` it is the same session (platforms). */
export function createRoute(api: Api): Route {
  const made: Made = new Map();
  const endpoint = { method: 'POST', purpose: 'session', accepts: 'json?', verifies: 'session' } as const;
  return collectionRoute(api, endpoint, asked => {
    const { incoming } = asked;
    const faults = keyFaults(incoming);
    const again = faults.length === 0 ? madeBefore(asked, made) : null;
    if (again) return again;
    const request = requestOf(incoming);
    if (faults.length > 0 || !request.ok)
      return refused(asked, 422, [...faults, ...(request.ok ? [] : request.details)]);
    if (api.store.isFull) return refused(asked, 429, 'There are too many sessions; start the mock again.');
    if (!api.store.hasRoom(incoming.body.length)) return refused(asked, 429, TOO_LARGE);
    return create(asked, request, made);
  });
}

function refused({ api, serve }: Asked, status: number, why: string | readonly Detail[]): Answer {
  refuse(api, { what: 'session', session: null, status, reason: reasonOf(why) });
  return serve().json(status, { detail: why });
}

function madeBefore(asked: Asked, made: Made): Answer | null {
  const { incoming, api, serve } = asked;
  const key = idempotencyKey(incoming);
  const before = key === undefined ? undefined : made.get(key);
  if (!before) return null;
  const session = api.store.get(before.id);
  if (session && before.digest === digest(incoming))
    return serve({ thread: session.id }).json(201, sessionView(session));
  const words = 'This key was used with another body';
  return refused(asked, 422, [detail('idempotency_key_reused', KEY_LOC, words, key)]);
}

function create({ incoming, api, serve }: Asked, request: RequestReading & { ok: true }, made: Made): Answer {
  const { store, clock, script, log } = api;
  const declared = toolsIn(request.value, request.written);
  const session = createSession({
    id: randomUUID(),
    script,
    tools: declared ?? script.tools,
    request: request.written,
    size: incoming.body.length,
    at: clock.wall().toISOString(),
  });
  store.add(session);
  store.touch(session.id);
  const key = idempotencyKey(incoming);
  if (key !== undefined) made.set(key, { id: session.id, digest: digest(incoming) });
  const answer = serve({ thread: session.id }).json(201, sessionView(session));
  for (const fact of undeclared(session)) log.emit(fact);
  store.step(session, start);
  return answer;
}

/** An agent calls no tool that it was not given: the script and its client do not belong together. */
function undeclared({ id: thread, tools, script }: Session): Fact[] {
  const names = new Set(tools.map(({ name }) => name));
  const called = new Set(script.rounds.flat().map(({ tool_name }) => tool_name));
  return [...called]
    .filter(name => !names.has(name))
    .map(name => ({
      kind: 'warned',
      message: `the script calls ${name}, which is not among the tools of the session: a real agent would not`,
      thread,
    }));
}

/** Those of `overrides` stand in the place of the agent's own; null where neither has any. */
function toolsIn({ agent, overrides }: Request, written: unknown): Session['tools'] | null {
  const overriding = overrides?.['agent.tools'];
  if (overriding) return declaredTools(overriding, valueAt(written, 'overrides', 'agent.tools'));
  const own = typeof agent === 'object' ? agent.tools : undefined;
  return own ? declaredTools(own, valueAt(written, 'agent', 'tools')) : null;
}

type RequestReading =
  | { readonly ok: true; readonly value: Request; readonly written: unknown }
  | { readonly ok: false; readonly details: readonly Detail[] };

/** One that sends nothing at all, not even of a type, asks for a session as it is. */
function requestOf({ body, headers }: Incoming): RequestReading {
  if (body.length === 0 && headers['content-type'] === undefined) return { ok: true, value: {}, written: {} };
  const json = readJson(body);
  if (!json.ok)
    return {
      ok: false,
      details: [detail('json_invalid', ['body'], `JSON decode error: ${json.reason}`, {})],
    };
  if (!isRecord(json.value))
    return {
      ok: false,
      details: [detail('dict_type', ['body'], 'Input should be a valid dictionary', json.value)],
    };
  const request = read(requestSchema, json.value, ['body']);
  return request.ok ? { ...request, written: json.value } : request;
}

const KEY_LOC = ['header', 'Idempotency-Key'];

function keyFaults(incoming: Incoming): Detail[] {
  const key = idempotencyKey(incoming) ?? '';
  const words = `Input should have at most ${LONGEST_KEY} characters`;
  return key.length > LONGEST_KEY ? [detail('string_too_long', KEY_LOC, words, key)] : [];
}

function idempotencyKey({ headers }: Incoming): string | undefined {
  const key = headers['idempotency-key'];
  return typeof key === 'string' ? key : undefined;
}

function digest({ body }: Incoming): string {
  return createHash('sha256').update(body).digest('hex');
}

/** The query of a request, read field by field; what is wrong is gathered. */
export class Query {
  readonly #fields: URLSearchParams;
  readonly faults: Detail[] = [];

  /** @param target path and query, as sent */
  constructor(target: string) {
    const at = target.indexOf('?');
    this.#fields = new URLSearchParams(at < 0 ? '' : target.slice(at + 1));
  }

  /** A whole number from `min`, no more than `max`. */
  whole<T>(name: string, preset: T, { min = 0, max = Number.MAX_SAFE_INTEGER } = {}): number | T {
    const text = this.#fields.get(name);
    if (text === null) return preset;
    if (!/^-?\d{1,15}$/.test(text)) return this.#fault(preset, name, 'int_parsing', 'a valid integer', text);
    const number = Number(text);
    if (number < min)
      return this.#fault(preset, name, 'greater_than_equal', `greater than or equal to ${min}`, text);
    return Math.min(number, max);
  }

  /** Seconds, with or without a fraction, no more than `max`. */
  seconds(name: string, max: number): number {
    const text = this.#fields.get(name);
    if (text === null) return 0;
    if (!/^\d{1,9}(\.\d{1,9})?$/.test(text))
      return this.#fault(0, name, 'float_parsing', 'a valid number', text);
    return Math.min(Number(text), max);
  }

  flag(name: string, preset: boolean): boolean {
    const text = this.#fields.get(name);
    if (text === null) return preset;
    const value = FLAGS.get(text.toLowerCase());
    return value ?? this.#fault(preset, name, 'bool_parsing', 'a valid boolean', text);
  }

  #fault<T>(preset: T, name: string, type: string, wanted: string, input: string): T {
    this.faults.push(detail(type, ['query', name], `Input should be ${wanted}`, input));
    return preset;
  }
}

const FLAGS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

/** Everything that only looks. */
export function lookRoutes(api: Api): Route[] {
  const look = { method: 'GET', purpose: 'session' } as const;
  return [
    collectionRoute(api, look, asked =>
      page(asked, { size: 10, most: 100 }, newestFirst(api).map(summaryView)),
    ),
    sessionRoute(api, look, ({ serve, session }) => serve().json(200, sessionView(session))),
    sessionRoute(api, { ...look, name: 'status' }, ({ serve, session }) =>
      serve().json(200, statusView(session)),
    ),
    sessionRoute(api, { ...look, name: 'events' }, asked =>
      page(asked, { size: 50, most: 200 }, asked.session.events),
    ),
    changesRoute(api),
  ];
}

/** Longer than this nobody waits, whatever they ask for. */
const LONGEST_WAIT_S = 60;

/** The long poll: 200 as soon as there is something new, 204 where nothing comes in time (platforms). */
function changesRoute(api: Api): Route {
  return sessionRoute(
    api,
    { method: 'GET', purpose: 'changes', name: 'changes' },
    async ({ incoming, serve, session }) => {
      const served = serve();
      const query = new Query(incoming.target);
      const from = query.whole('from_index', 0);
      const limit = query.whole('limit', null, { min: 1 });
      const events = query.flag('include_events', true);
      const seconds = query.seconds('wait_for_seconds', LONGEST_WAIT_S);
      if (query.faults.length > 0) return served.json(422, { detail: query.faults });
      const now = () => api.store.get(session.id) ?? session;
      const isThere = () => now().events.length > from;
      const isNews = () => isThere() || isTerminal(now().phase);
      const { onGone } = incoming;
      const isWanted = await untilNews(api, { id: session.id, ms: seconds * 1_000, isThere: isNews, onGone });
      if (!isWanted) return served.gone();
      return isThere() ? served.json(200, changesView(now(), { from, limit, events })) : served.empty(204);
    },
  );
}

function newestFirst({ store }: Api) {
  return store.all.toReversed();
}

function page(
  { incoming, serve }: Asked,
  { size: preset, most }: { readonly size: number; readonly most: number },
  all: readonly unknown[],
): Answer {
  const query = new Query(incoming.target);
  const page = query.whole('page', 1, { min: 1 });
  const size = query.whole('size', preset, { min: 1, max: most });
  return query.faults.length > 0
    ? serve().json(422, { detail: query.faults })
    : serve().json(200, pageView(all, { page, size }));
}
