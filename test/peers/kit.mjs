import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** The value, or null for what is not JSON. */
export function parsed(raw) {
  try {
    return JSON.parse(raw);
  } catch {
    return null;
  }
}

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

/** Everything a tool received and delivered, in order. `GET /__log` shows it. */
export class Journal {
  entries = [];

  /** Returns the entry, so that a delivery can be given its status once it is answered. */
  add(what, { url, headers, raw }) {
    const entry = { what, url, headers, body: parsed(raw), raw, status: null, error: null, at: Date.now() };
    this.entries.push(entry);
    return entry;
  }

  /** Takes a request with its body; one that breaks off is kept too, with the error. */
  async receive(what, request) {
    const { url, headers } = request;
    try {
      return this.add(what, { url, headers, raw: (await readBody(request)).toString() });
    } catch (error) {
      return Object.assign(this.add(what, { url, headers, raw: '' }), { error: error.message });
    }
  }
}

const BYTE_EVERY_MS = 1000;

/**
 * The ways in which a receiver of callbacks may behave, by name; a status or `{ status, headers, body, afterMs }`
 * is an ordinary answer. `drip` shows before the body is read, the others after it.
 */
const MISDEEDS = {
  hang() {},
  reset: response => response.socket.resetAndDestroy(),
  half(response) {
    const { socket } = response;
    socket.write('HTTP/1.1 200 OK\r\ncontent-le', () => socket.resetAndDestroy());
  },
  endless(response) {
    response.writeHead(200);
    const more = setInterval(() => response.write('more '.repeat(1000)), 10);
    response.once('close', () => clearInterval(more));
  },
};

/** The whole body; of one that drips, whatever came before the sender hung up. */
export function take(request, how) {
  return how === 'drip' ? readSlowly(request) : readBody(request);
}

export async function answer(response, how) {
  if (typeof how === 'string' && how !== 'drip') return MISDEEDS[how](response);
  const { status, headers = {}, body = '', afterMs = 0 } = typeof how === 'object' ? how : { status: how };
  if (afterMs > 0) await sleep(afterMs);
  response.writeHead(how === 'drip' ? 200 : status, headers).end(body);
}

/** What the sender learns: a status, or null where the connection tells nothing. */
export function statusOf(how) {
  if (typeof how === 'number') return how;
  return typeof how === 'object' ? how.status : null;
}

/** A byte a second. No timer is left behind when the sender hangs up. */
function readSlowly(request) {
  const chunks = [];
  return new Promise(resolve => {
    const done = () => {
      clearInterval(timer);
      resolve(Buffer.concat(chunks));
    };
    const timer = setInterval(() => {
      const byte = request.read(1);
      if (byte) chunks.push(byte);
      if (request.readableEnded) done();
    }, BYTE_EVERY_MS);
    request.on('readable', () => {});
    request.once('end', done).once('close', done);
  });
}
