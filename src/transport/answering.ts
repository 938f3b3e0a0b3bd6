import type { IncomingMessage, ServerResponse } from 'node:http';
import { drain, hasBody } from './body.js';
import type { Connections } from './connections.js';
import type { Answer } from './route.js';

const LINGER_BYTES = 16 * 1024 * 1024;
const NOTHING = new Uint8Array(0);
const WITHOUT_BODY = new Set([204, 304]);

export interface Sending {
  /** For a sender that is not read to its end. */
  readonly lingerMs: number;
  readonly connections: Pick<Connections, 'watchReading' | 'turn'>;
}

/** Sends an answer; where the request was not read to its end, the connection is closed after it. */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body = '', pieces, sent }: Answer,
  { lingerMs, connections }: Sending,
): Promise<void> {
  const unread = hasBody(request) && !request.readableEnded;
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const head: Record<string, string | number> = {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff', // nothing we answer is ever taken for a page or a script (threats, row 28)
  };
  if (!WITHOUT_BODY.has(status) && !pieces) head['content-length'] = length;
  if (unread) head['connection'] = 'close';
  for (const name in headers) head[name.toLowerCase()] = headers[name] ?? ''; // in the place of ours, however it is written
  response.writeHead(status, head);
  if (pieces) await sendPieces(request, response, pieces, connections);
  if (unread) await sendAhead(request, response, body, lingerMs);
  else await new Promise(setImmediate); // all answers of a turn go out together: to wake the other side costs more than to answer it
  response.end(unread || length === 0 ? undefined : body); // with nothing beside it the head goes out in one piece
  connections.watchReading(request, response, body);
  sent?.();
}

/** One piece of one answer at a time, so that others are served between two of them. None is made that the peer does not read. */
async function sendPieces(
  request: IncomingMessage,
  response: ServerResponse,
  pieces: Iterable<Uint8Array>,
  connections: Sending['connections'],
): Promise<void> {
  await connections.turn();
  for (const piece of pieces) {
    const isTaken = response.write(piece);
    connections.watchReading(request, response, NOTHING);
    if (!isTaken) await untilDrained(response);
    await connections.turn();
    if (response.destroyed) return;
  }
}

function untilDrained(response: ServerResponse): Promise<void> {
  return new Promise(resolve => {
    const settle = () => {
      response.off('drain', settle).off('close', settle);
      resolve();
    };
    response.on('drain', settle).on('close', settle);
  });
}

/** To close on unread bytes would reset the connection and lose the answer: it goes out whole, then the sender may finish. */
async function sendAhead(
  request: IncomingMessage,
  response: ServerResponse,
  body: string | Uint8Array,
  ms: number,
) {
  response.flushHeaders();
  if (body.length > 0) response.write(body);
  await drain(request, { bytes: LINGER_BYTES, ms });
}
