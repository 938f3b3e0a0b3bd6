import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { eventually } from './eventually.js';

/** A port on which nothing listens, as of now. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

export interface SilentServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** How many connections there ever were. */
  connections(): number;
  /** Waits for the first connection. */
  connected(): Promise<unknown>;
}

/** Takes connections and says nothing. */
export async function silentServer(host = '127.0.0.1', at = 0): Promise<SilentServer> {
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(at, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    connections: () => sockets.size,
    connected: () => eventually('a connection', () => sockets.size > 0),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
