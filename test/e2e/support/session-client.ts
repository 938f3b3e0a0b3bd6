import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';

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
export type ClientOutcome = z.infer<typeof outcomeSchema> & { readonly exit: number };

/** Command and arguments that start a client; it finds the platform in its environment. */
export function clientCommand(name: ClientName): string[] {
  const [program, file] = CLIENTS[name];
  return [program, fileURLToPath(file)];
}

/** Runs a client to the end of the session; without an id it creates one. */
export function runClient(
  name: ClientName,
  { url, key = '', id = 'new' }: { readonly url: string; readonly key?: string; readonly id?: string },
): Promise<ClientOutcome> {
  const [program = '', ...args] = clientCommand(name);
  const env = { PATH: process.env['PATH'], API_KEY: key };
  return new Promise((resolve, reject) => {
    execFile(program, [...args, url, id], { env }, (error, stdout, stderr) => {
      try {
        resolve({ ...readOutcome(stdout), exit: Number(error?.code ?? 0) });
      } catch {
        reject(new Error(`the ${name} client said: ${stdout}${stderr}`));
      }
    });
  });
}

/** The line that a client prints. @throws where it is none. */
export function readOutcome(line: string): z.infer<typeof outcomeSchema> {
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

/** The states that the events told, one after the other, with the names of the calls that were pending. */
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
