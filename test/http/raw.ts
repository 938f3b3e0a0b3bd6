import { connect } from 'node:net';
import type { Denial, Incoming, Route } from '../../src/http/route.js';
import { type RunningServer, startServer } from '../../src/http/server.js';

/** Returns the response to some bytes, up to the end of the connection. */
export function rawExchange(port: number, ...pieces: readonly (string | Uint8Array)[]): Promise<string> {
  return new Promise(resolve => {
    let answer = '';
    const socket = connect(port, '127.0.0.1', () => {
      for (const piece of pieces) socket.write(piece);
    });
    socket
      .setEncoding('latin1')
      .on('data', text => {
        answer += text;
      })
      .on('error', () => {})
      .on('close', () => resolve(answer));
  });
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}

/** A request that closes its connection, so that {@link rawExchange} ends. */
export function request(line: string, ...headers: readonly string[]): string {
  return [`${line} HTTP/1.1`, ...headers, 'Connection: close', '\r\n'].join('\r\n');
}

export const echo: Route = {
  name: 'echo',
  method: 'POST',
  serves: path => path === '/echo',
  accepts: 'json',
  handle: (_, body) => ({ status: 200, body: `${body.length} bytes` }),
};

export const hello: Route = {
  name: 'hello',
  method: 'GET',
  serves: path => path === '/hello',
  accepts: 'nothing',
  handle: () => ({ status: 200, body: 'hello' }),
};

export interface Watched extends RunningServer {
  readonly refusals: (Omit<Denial, 'refusal'> & { readonly request: Incoming })[];
}

/** A server with two routes, short limits, and a list of refusals. */
export async function watchedServer(
  options: Partial<Parameters<typeof startServer>[0]> = {},
): Promise<Watched> {
  const refusals: Watched['refusals'] = [];
  const server = await startServer({
    routes: [echo, hello],
    maxBody: 1_000,
    onRefused: (denial, request) => refusals.push({ ...denial, request }),
    ...options,
    limits: { closeMs: 20, lingerMs: 50, ...options.limits },
  });
  return Object.assign(server, { refusals });
}
