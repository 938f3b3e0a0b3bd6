import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { Connections } from './connections.js';
import { errnoOf } from './errno.js';
import type { ServerLimits } from './limits.js';
import { Denial } from './refusal.js';

/**
 * Answers what never became a request, or stopped being one: bytes that are not HTTP, heads that are too large, senders that are
 * too slow (threats, rows 4, 14 and 17). Each is told once; the next connection is served as ever.
 */
export class BrokenRequests {
  readonly #told = new WeakSet<Duplex>();
  readonly connections: Connections;

  constructor(
    server: Server,
    private readonly tell: (denial: Denial, request?: IncomingMessage) => void,
    private readonly limits: ServerLimits,
  ) {
    this.connections = new Connections(server, limits, socket => this.#cut(socket));
    server.on('clientError', (error, socket) => this.#refuse(error, socket));
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
    setTimeout(() => socket.destroy(), this.limits.lingerMs).unref(); // the peer still sends: an immediate close would lose the answer
    this.tell(denial, this.connections.unanswered(socket)?.req);
  }

  /** A second status line in the middle of an answer would be read as part of it. */
  #isAnswering(socket: Duplex): boolean {
    return this.connections.unanswered(socket)?.headersSent ?? false;
  }

  #cut(socket: Duplex): void {
    const request = this.connections.unanswered(socket)?.req;
    if (!request || request.complete) return;
    this.#told.add(socket);
    this.tell(new Denial(0, 'slow', 'it was unfinished for longest, and gave way to another'), request);
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
