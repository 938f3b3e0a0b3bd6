import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import * as z from 'zod';

/** How an operation is answered: the acknowledgement, then messages posted as they are, byte for byte. */
export interface Behaviour {
  readonly inputSchema?: object;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Posted to the callback URL, one after the other. */
  readonly callbacks?: (invocation: Invocation) => readonly string[];
}

const invocationSchema = z.looseObject({
  operation: z.string(),
  id: z.string(),
  group_id: z.string(),
  callback_url: z.string(),
});

export type Invocation = z.infer<typeof invocationSchema>;

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly raw: string;
}

export interface OwnTool extends AsyncDisposable {
  readonly url: string;
  readonly received: readonly Received[];
  invocations(): readonly Received[];
}

/** A result as a good tool sends it. */
export function resultFor({ id, group_id }: Pick<Invocation, 'id' | 'group_id'>, text: string): string {
  return JSON.stringify({ type: 'tool_result', group_id, id, text });
}

/** A tool on node:http alone, for what the peers cannot say: examples word for word, toolsets made for one test. */
export async function startTool(
  operations: Readonly<Record<string, Behaviour>>,
  notices: Pick<Behaviour, 'status' | 'body'> = {},
): Promise<OwnTool> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const { method = '', url = '', headers } = request;
    const raw = (await buffer(request)).toString('utf8');
    received.push({ method, url, headers, raw });
    if (url === '/.well-known/rap-toolset') sendJson(response, toolset(request, operations));
    else if (url === '/invoke') await perform(invocationSchema.parse(JSON.parse(raw)), operations, response);
    else response.writeHead(method === 'POST' ? (notices.status ?? 200) : 404).end(notices.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    invocations: () => received.filter(({ url }) => url === '/invoke'),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function perform(
  invocation: Invocation,
  operations: Readonly<Record<string, Behaviour>>,
  response: ServerResponse,
): Promise<void> {
  const { status = 200, headers, body, callbacks = () => [] } = operations[invocation.operation] ?? {};
  response.writeHead(status, headers).end(body);
  for (const message of callbacks(invocation))
    await fetch(invocation.callback_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: message,
    });
}

function toolset({ headers }: IncomingMessage, operations: Readonly<Record<string, Behaviour>>): object {
  const tools = Object.entries(operations).map(([name, { inputSchema = { type: 'object' } }]) => ({
    name,
    description: name,
    inputSchema,
  }));
  return { name: 'own-tool', endpoint: `http://${headers.host}/invoke`, tools };
}

function sendJson(response: ServerResponse, value: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}
