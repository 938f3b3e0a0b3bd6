import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { servePeer } from '../e2e/support/serve-peer.js';

/** A status, a connection cut off without an answer, or an answer of one's own. */
export type Reply = number | 'reset' | ((response: ServerResponse, request: Received) => void);

export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Serving extends AsyncDisposable {
  readonly url: string;
  /** What came, each once it was read. */
  readonly requests: readonly Received[];
}

/** A bare node:http server on loopback: gives the replies one after the other, and the last one from then on. */
export async function startServing(...replies: readonly Reply[]): Promise<Serving> {
  const requests: Received[] = [];
  const { url, stop } = await servePeer(async (request, response) => {
    const received = await receive(request);
    const reply = replies[Math.min(requests.length, replies.length - 1)] ?? 200;
    requests.push(received);
    if (reply === 'reset') request.socket.destroy();
    else if (typeof reply === 'number')
      response.writeHead(reply, { location: '/elsewhere' }).end(`status ${reply}`);
    else reply(response, received);
  });
  return { url: `${url}/`, requests, [Symbol.asyncDispose]: stop };
}

async function receive(request: IncomingMessage): Promise<Received> {
  const { method = '', url = '', headers } = request;
  return { method, url, headers, body: await text(request) };
}
