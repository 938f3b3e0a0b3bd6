import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Served {
  readonly port: number;
  readonly url: string;
  /** Breaks what is open, as the end of a process would. */
  stop(): Promise<void>;
}

/** Serves a peer in this process: it shares no code with us, and a process of its own would cost more than its work. */
export async function servePeer(
  play: (request: IncomingMessage, response: ServerResponse) => Promise<unknown>,
  onPort = 0,
): Promise<Served> {
  const server = createServer((request, response) => {
    play(request, response).catch(() => response.destroy());
  });
  server.listen(onPort, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close().closeAllConnections();
      await closed;
    },
  };
}
