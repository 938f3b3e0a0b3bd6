import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export type Received = Readonly<Record<string, unknown>>;

export interface RawTool extends AsyncDisposable {
  readonly url: string;
  /** The paths of the received POSTs. */
  readonly posts: readonly string[];
}

export interface RawToolOptions {
  /** Default: a toolset with one harmless operation, `op`. */
  readonly toolset?: (url: string) => unknown;
  /** Handles an invocation; default: acknowledges it and does nothing else. */
  readonly invoked?: (invocation: Received, response: ServerResponse) => void;
  /** The response to a notice; default: 200. */
  readonly noticed?: (response: ServerResponse) => void;
}

/** A tool server with the given behavior that uses no code of this package. */
export async function startRawTool({
  toolset = harmless,
  invoked = forget,
  noticed = response => void response.end(),
}: RawToolOptions): Promise<RawTool> {
  const posts: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await text(request);
    if (request.method === 'GET') return void response.end(JSON.stringify(toolset(url)));
    posts.push(request.url ?? '');
    if (request.url !== '/invoke') return noticed(response);
    invoked(parsed(body), response);
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    posts,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close().closeAllConnections();
      await closed;
    },
  };
}

export function harmless(url: string) {
  return { name: 'raw', endpoint: `${url}/invoke`, tools: [operation('op')] };
}

export function operation(name: string, more: object = { annotations: { readOnly: true } }) {
  return { name, description: '', inputSchema: { type: 'object' }, ...more };
}

export function resultOf({ id, group_id, call_id }: Received, more: object = {}) {
  return { type: 'tool_result', id, group_id, call_id, text: 'done', ...more };
}

/** Posts a callback. Returns false if the listener is unreachable. */
export async function post(url: unknown, message: unknown): Promise<boolean> {
  const headers = { 'content-type': 'application/json' };
  const posted = fetch(String(url), { method: 'POST', headers, body: JSON.stringify(message) });
  return posted.then(
    () => true,
    () => false,
  );
}

function forget(_: Received, response: ServerResponse): void {
  response.end();
}

function parsed(body: string): Received {
  try {
    return Object(JSON.parse(body));
  } catch {
    return {};
  }
}
