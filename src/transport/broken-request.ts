import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errnoOf } from './errno.js';
import { Denial } from './refusal.js';

/**
 * Answers what never became a request, or stopped being one: bytes that are not HTTP, heads that are too large, senders that are
 * too slow (threats, rows 4, 14 and 17). Each is told once; the next connection is served as ever.
 */
export class BrokenRequests {
  readonly #responses = new WeakMap<Duplex, ServerResponse>();
  readonly #told = new WeakSet<Duplex>();

  constructor(
    server: Server,
    private readonly tell: (denial: Denial, request?: IncomingMessage) => void,
    private readonly lingerMs: number,
  ) {
    server.on('clientError', (error, socket) => this.#refuse(error, socket));
  }

  /** Remembers which answer a connection is waiting for. */
  expect(socket: Duplex, response: ServerResponse): void {
    this.#responses.set(socket, response);
  }

  /** Whether the connection's fault was told already. */
  knows(socket: Duplex): boolean {
    return this.#told.has(socket);
  }

  #refuse(error: Error, socket: Duplex): void {
    if (this.#told.has(socket)) return;
    const denial = denialOf(error);
    if (!denial || !socket.writable || this.#isAnswering(socket)) {
      socket.destroy();
      return;
    }
    this.#told.add(socket);
    socket.end(rawAnswer(denial.status));
    setTimeout(() => socket.destroy(), this.lingerMs).unref(); // the peer still sends: an immediate close would lose the answer
    this.tell(denial, this.#unanswered(socket)?.req);
  }

  /** A second status line in the middle of an answer would be read as part of it. */
  #isAnswering(socket: Duplex): boolean {
    return this.#unanswered(socket)?.headersSent ?? false;
  }

  #unanswered(socket: Duplex): ServerResponse | undefined {
    const response = this.#responses.get(socket);
    return response?.writableFinished ? undefined : response;
  }
}

function denialOf(error: Error): Denial | null {
  const code = errnoOf(error);
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new Denial(408, 'slow', 'it was not complete in time');
  if (code === 'HPE_HEADER_OVERFLOW') return new Denial(431, 'too-large', 'its headers are too large');
  if (code === 'HPE_INVALID_EOF_STATE')
    return new Denial(400, 'aborted', 'its sender ended it in the middle');
  if (code.startsWith('HPE_')) return new Denial(400, 'malformed', `it is not strict HTTP: ${error.message}`);
  return null;
}

function rawAnswer(status: number): string {
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: text/plain; charset=utf-8',
    'X-Content-Type-Options: nosniff',
    'Content-Length: 0',
    'Connection: close',
    '\r\n',
  ].join('\r\n');
}
