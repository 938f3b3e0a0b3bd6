import type { IncomingMessage, ServerResponse } from 'node:http';
import { drain, hasBody } from './body.js';
import type { Answer } from './route.js';

const LINGER_BYTES = 16 * 1024 * 1024;
const WITHOUT_BODY = new Set([204, 304]);

/** Sends an answer; where the request was not read to its end, the connection is closed after it. */
export async function sendAnswer(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers, body: content = '' }: Answer,
  lingerMs: number,
): Promise<void> {
  const body = typeof content === 'string' ? Buffer.from(content) : content;
  const unread = hasBody(request) && !request.readableEnded;
  response.statusCode = status;
  response.setHeaders(new Map(Object.entries(plain(body.length))));
  if (WITHOUT_BODY.has(status)) response.removeHeader('Content-Length');
  if (unread) response.setHeader('Connection', 'close');
  for (const [name, value] of Object.entries(headers ?? {})) response.setHeader(name, value);
  if (unread) await sendAhead(request, response, body, lingerMs);
  response.end(unread ? undefined : body);
}

/** Nothing we answer is ever taken for a page or a script (threats, row 28). */
function plain(length: number): Record<string, string> {
  return {
    'Content-Type': 'text/plain; charset=utf-8',
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': String(length),
  };
}

/** To close on unread bytes would reset the connection and lose the answer: it goes out whole, then the sender may finish. */
async function sendAhead(request: IncomingMessage, response: ServerResponse, body: Uint8Array, ms: number) {
  response.flushHeaders();
  if (body.length > 0) response.write(body);
  await drain(request, { bytes: LINGER_BYTES, ms });
}
