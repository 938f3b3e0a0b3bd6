import type { IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import * as z from 'zod';
import { servePeer } from './serve-peer.js';

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
  const { url, stop } = await servePeer(async (request, response) => {
    const { method = '', url: path = '', headers } = request;
    const raw = (await buffer(request)).toString('utf8');
    received.push({ method, url: path, headers, raw });
    if (path === '/.well-known/rap-toolset') sendJson(response, toolset(request, operations));
    else if (path === '/invoke') await perform(invocationSchema.parse(JSON.parse(raw)), operations, response);
    else response.writeHead(method === 'POST' ? (notices.status ?? 200) : 404).end(notices.body);
  });
  const invocations = () => received.filter(each => each.url === '/invoke');
  return { url, received, invocations, [Symbol.asyncDispose]: stop };
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
