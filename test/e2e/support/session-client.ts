import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll } from 'vitest';
import * as z from 'zod';
import { runSession } from '../../peers/client/session.mjs';
import { type PythonPeer, startPythonPeer } from './python-peer.js';

const pendingSchema = z.looseObject({ tool_name: z.string(), id: z.string().nullish() });

const eventSchema = z.looseObject({
  type: z.string(),
  data: z.looseObject({ state: z.string().optional() }),
});

const sentSchema = z.object({
  method: z.string(),
  path: z.string(),
  body: z.unknown(),
  status: z.number().nullable(),
  answer: z.unknown(),
});

const outcomeSchema = z.object({
  session: z.string().nullable(),
  status: z.string().nullable(),
  answer: z.unknown(),
  error: z.string().nullable(),
  events: z.array(eventSchema),
  journal: z.array(sentSchema),
});

const CLIENTS = {
  node: [process.execPath, new URL('../../peers/session-client.mjs', import.meta.url)],
  python: ['python3', new URL('../../peers/stdlib_session_client.py', import.meta.url)],
} as const;

export type ClientName = keyof typeof CLIENTS;
export const CLIENT_NAMES: readonly ClientName[] = ['node', 'python'];

/** What a client that shares no code with us says of a session, see test/peers/session-client.mjs. */
export type ClientOutcome = z.infer<typeof outcomeSchema>;

/** Command and arguments that start a client; it finds the platform in its environment. */
export function clientCommand(name: ClientName): string[] {
  const [program, file] = CLIENTS[name];
  return [program, fileURLToPath(file)];
}

/** Where a session is; without an id the client creates one. */
interface SessionPlace {
  readonly url: string;
  readonly key?: string;
  readonly id?: string;
}

/** Clients for the tests of a file, to the end of a session each; the one in Node runs in this process, as the peers that are tools do. */
export function sessionClients(): (name: ClientName, place: SessionPlace) => Promise<ClientOutcome> {
  let python: PythonPeer;
  beforeAll(() => {
    python = startPythonPeer('stdlib_session_client.py');
  });
  afterAll(() => python.stop());
  const clients = {
    node: (base: string, asked: string, key: string) => runSession({ base, asked, key }),
    python: async (base: string, asked: string, key: string) => (await python.ask(base, asked, key))[0],
  };
  return async (name, { url, key = '', id = 'new' }) =>
    outcomeSchema.parse(await clients[name](url, id, key));
}

/** The line that a client prints. @throws where it is not one. */
export function readOutcome(line: string): ClientOutcome {
  return outcomeSchema.parse(JSON.parse(line));
}

/** The bodies of results it posted, and what they were answered, in order. */
export function postsOf({
  journal,
}: Pick<ClientOutcome, 'journal'>): { body: unknown; status: number | null; answer: unknown }[] {
  return journal
    .filter(({ path }) => path.endsWith('/tool_results'))
    .map(({ body, status, answer }) => ({ body, status, answer }));
}

/** The states in these events, in order, with the names of the pending calls. */
export function statesOf({ events }: Pick<ClientOutcome, 'events'>): string[] {
  return events
    .filter(({ type }) => type === 'ActiveStateChangeEvent')
    .map(({ data }) => [data.state, ...pendingOf(data['pending_tool_calls'])].join(' '));
}

function pendingOf(calls: unknown): string[] {
  return z
    .array(pendingSchema)
    .parse(calls ?? [])
    .map(({ tool_name, id }) => id ?? tool_name);
}
