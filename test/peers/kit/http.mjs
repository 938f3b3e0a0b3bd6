import { once } from 'node:events';
import { createServer } from 'node:http';

/** Serves until a signal; the first line on stdout tells the port. */
export async function serve(handle) {
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy());
  });
  server.listen(Number(process.env.PORT ?? 0), '127.0.0.1');
  await once(server, 'listening');
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0));
  process.stdout.write(`${JSON.stringify({ port: server.address().port })}\n`);
}

export function ownOrigin(request) {
  return `http://127.0.0.1:${request.socket.localPort}`;
}

export function sendJson(response, value) {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/**
 * Listens for data at once: Node throws a body away when the response ends and no one has begun to read.
 * Watches the socket too: after an early response with `Connection: close` neither `end` nor `error` comes.
 */
export function readBody(request) {
  const { socket } = request;
  const chunks = [];
  return new Promise((resolve, reject) => {
    const breakOff = () => reject(new Error('the request broke off'));
    socket.once('close', breakOff);
    request.on('error', breakOff);
    request.on('data', chunk => chunks.push(chunk));
    request.on('end', () => {
      socket.off('close', breakOff);
      resolve(Buffer.concat(chunks));
    });
  });
}
