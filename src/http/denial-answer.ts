import { errnoOf } from '../util/errors.js';
import { type Answer, Denial } from './route.js';

// On Node 22 and later, importing node:http as an ES module loads all of undici.
const { STATUS_CODES } = process.getBuiltinModule('node:http');

/** Why a connection that is not valid HTTP is refused; null if it is only cut. */
export function denialOf(error: Error): Denial | null {
  const code = errnoOf(error);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Denial(408, 'slow', 'it was not complete in time');
  if (code === 'HPE_HEADER_OVERFLOW') return new Denial(431, 'too-large', 'its headers are too large');
  if (code === 'HPE_INVALID_EOF_STATE')
    return new Denial(400, 'aborted', 'its sender ended it in the middle');
  if (code.startsWith('HPE_')) return new Denial(400, 'malformed', `it is not strict HTTP: ${error.message}`);
  return null;
}

/** An answer without a parsed request: it is written to the socket. */
export function rawAnswer(status: number): string {
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    'X-Content-Type-Options: nosniff',
    'Content-Length: 0',
    'Connection: close',
    '\r\n',
  ].join('\r\n');
}

/** @param explains whether the answer includes the reason, as text or JSON */
export function answerTo({ status, headers, detail }: Denial, explains: boolean | 'json'): Answer {
  if (!explains || status >= 500) return { status, headers };
  const text = `refused: ${detail}`;
  if (explains !== 'json') return { status, headers, body: `${text}\n` };
  const json = { 'Content-Type': 'application/json' };
  return { status, headers: { ...headers, ...json }, body: JSON.stringify({ detail: text }) };
}
