import { createHash, randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import type { Fact } from '../../../exchange/events.js';
import { declaredTools } from '../../../fixtures/session/declared-tools.js';
import { isRecord } from '../../../text/is-record.js';
import { readJson } from '../../../text/json.js';
import { valueAt } from '../../../text/value-at.js';
import type { Answer, Incoming, Route } from '../../../transport/server.js';
import { type Detail, detail, read } from '../judge/detail.js';
import { start } from '../state/play.js';
import { createSession, type Session } from '../state/session.js';
import { sessionView } from '../views.js';
import { type Asked, collectionRoute } from './api.js';
import { type Api, reasonOf, refuse } from './endpoint.js';

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
