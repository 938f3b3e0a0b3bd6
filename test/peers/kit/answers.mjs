import { setTimeout as sleep } from 'node:timers/promises';
import { readBody } from './http.mjs';

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
