import * as z from 'zod';
import { temporaryFolder } from './folder.js';
import { ask, type HttpAnswer } from './http.js';
import { serverCommand } from './server.js';
import { type Changes, idIn, readChanges, readStatus, statesIn } from './session-wire.js';

const readySchema = z.strictObject({ port: z.int(), url: z.string(), key: z.string(), session: z.string() });

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A value is sent as JSON, a text or bytes as they are. */
  readonly body?: unknown;
}

export interface JsonAnswer extends HttpAnswer {
  /** The body, parsed; null where it is not JSON. */
  readonly json: unknown;
}

/** One session, asked with the key. */
export interface Session {
  readonly id: string;
  /** @param path below the session's own */
  ask(path: string, asked?: Asked): Promise<JsonAnswer>;
  post(path: string, body?: unknown): Promise<JsonAnswer>;
  results(body: unknown): Promise<JsonAnswer>;
  changes(query?: string): Promise<Changes>;
  status(): Promise<string>;
  /** The calls that are pending, by the latest event that tells. */
  pending(): Promise<unknown[]>;
}

interface Sessions {
  /** @param path below `/api/v2/sessions` */
  ask(path: string, asked?: Asked): Promise<JsonAnswer>;
  create(body?: unknown, headers?: Asked['headers']): Promise<JsonAnswer>;
  /** A session that plays the script anew. */
  fresh(): Promise<Session>;
  /** The one of the ready line, or another one. */
  known(id?: string): Session;
}

const { start, startHere } = serverCommand(
  ['session', 'mock'],
  readySchema,
  ({ url, key, session }): Sessions => {
    const api: Sessions['ask'] = (path, { headers, ...asked } = {}) =>
      askJson(`${url}/api/v2/sessions${path}`, {
        ...asked,
        headers: { authorization: `Bearer ${key}`, ...headers },
      });
    const create: Sessions['create'] = (body = { agent: 'an-agent' }, headers = {}) =>
      api('', { method: 'POST', body, headers });
    return {
      ask: api,
      create,
      fresh: async () => sessionOf(api, idIn(await create())),
      known: (id = session) => sessionOf(api, id),
    };
  },
);

export { start as startSessionMock, startHere as startSessionMockHere };

/** A `session mock` in this process. */
export type SessionMockHere = Awaited<ReturnType<typeof startHere>>;

/** Starts `session mock` with a script of these rounds, in this process. */
export async function startScript(script: object, ...args: readonly string[]): Promise<SessionMockHere> {
  await using folder = await temporaryFolder();
  const file = await folder.write('script.json', JSON.stringify({ version: 1, ...script }));
  return await startHere([file, ...args]);
}

function sessionOf(api: Sessions['ask'], id: string): Session {
  const own: Session['ask'] = (path, asked) => api(`/${id}${path}`, asked);
  const post: Session['post'] = (path, body) => own(path, { method: 'POST', body });
  const changes: Session['changes'] = async (query = '') => readChanges(await own(`/changes${query}`));
  return {
    id,
    ask: own,
    post,
    results: body => post('/tool_results', body),
    changes,
    status: async () => readStatus(await own('/status')),
    pending: async () => statesIn(await changes()).at(-1)?.data.pending_tool_calls ?? [],
  };
}

/** One request, a GET by default; what is neither text nor bytes is sent as JSON. */
export async function askJson(url: string, { method = 'GET', headers, body }: Asked): Promise<JsonAnswer> {
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const raw = body === undefined ? '' : isRaw ? body : JSON.stringify(body);
  const answer = await ask(url, { method, body: raw, ...(headers && { headers }) });
  return { ...answer, json: parsed(answer.body) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
