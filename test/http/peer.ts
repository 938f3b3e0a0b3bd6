import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface Peer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** The heads of the received requests. */
  readonly requests: readonly string[];
  connections(): number;
}

/** Starts a server that sends the given bytes in answer to each request. */
export async function startPeer(
  reply: string | ((socket: Socket) => void),
  host = '127.0.0.1',
): Promise<Peer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer(socket => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', bytes => {
      const head = bytes.toString('latin1');
      if (!/ HTTP\/1\.1\r\n/.test(head)) return;
      requests.push(head);
      if (typeof reply === 'string') socket.write(reply);
      else reply(socket);
    });
  });
  server.listen({ host, port: 0 });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/tool?x=1`,
    port,
    requests,
    connections: () => sockets.size,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** An answer with a body and its length. */
export function answer(status: number, body: string, ...headers: readonly string[]): string {
  return [`HTTP/1.1 ${status} Some`, ...headers, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join(
    '\r\n',
  );
}

/** Writes forever, as fast as the client reads; counts the bytes that were read. */
export function pour(socket: Socket): { taken(): number } {
  const piece = Buffer.alloc(16 * 1024, 32);
  socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${2 ** 40}\r\n\r\n`);
  const pump = () => {
    while (socket.writable && socket.write(piece));
  };
  socket.on('drain', pump);
  pump();
  return { taken: () => socket.bytesWritten };
}
