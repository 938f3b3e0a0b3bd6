import type { Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** Limits of the connections of a server (threats, row 14). */
interface ConnectionLimits {
  readonly connections: number;
  /** Budget for all answers that were written but not yet read, in bytes. */
  readonly unreadBytes: number;
  /** How long a client may not read its answer, in milliseconds. */
  readonly requestMs: number;
}

interface Connection {
  /** When the connection was opened or its latest request began, in monotonic ms. */
  since: number;
  /** To its latest request. */
  response: ServerResponse | null;
  /** A large body that was written but not yet read by the client. */
  unread: object | null;
}

/** The order in which connections are closed, lowest first. BUSY connections, whose request is being answered, are never closed. */
const [UNFINISHED, IDLE, UNREAD, BUSY] = [0, 1, 2, 3];

/** Smaller bodies are not counted: the number of connections limits them. */
const SMALL = 64 * 1024;

/**
 * The connections of a server. At the limit, a new connection replaces the one that has been unfinished for longest, so silent, slow
 * and unread connections do not block other clients (threats, row 14).
 */
export class Connections {
  readonly #connections = new Map<Duplex, Connection>();
  /** Bodies that are not read yet, with the number of connections they are sent to. */
  readonly #unread = new Map<object, { readonly bytes: number; readers: number }>();
  #unreadBytes = 0;
  #turn: Promise<unknown> = Promise.resolve();

  /** @param onCut called before a connection is destroyed to make room. */
  constructor(
    server: Server,
    private readonly limits: ConnectionLimits,
    private readonly onCut: (socket: Duplex) => void,
  ) {
    server.on('connection', (socket: Duplex) => this.#open(socket));
  }

  begin(response: ServerResponse): void {
    const connection = this.#connections.get(response.req.socket);
    if (!connection) return;
    connection.since = performance.now();
    connection.response = response;
  }

  unanswered(socket: Duplex): ServerResponse | undefined {
    const { response } = this.#connections.get(socket) ?? {};
    return response && !response.writableFinished ? response : undefined;
  }

  /** Must be called after each write of an answer: disconnects a client that stops reading. */
  watchReading(response: ServerResponse, body: string | Uint8Array): void {
    const { socket } = response.req;
    if (socket.writableLength === 0) return;
    socket.setTimeout(this.limits.requestMs); // time without progress
    const connection = this.#connections.get(socket);
    if (!connection || body.length <= SMALL) return;
    this.#forgetBody(connection);
    connection.unread = typeof body === 'string' ? {} : body;
    const held = this.#unread.get(connection.unread);
    if (held) held.readers++;
    else {
      this.#unread.set(connection.unread, { bytes: body.length, readers: 1 });
      this.#unreadBytes += body.length;
    }
    response.once('close', () => this.#forgetBody(connection));
    while (this.#unreadBytes > this.limits.unreadBytes && this.#cutOldest(UNREAD, socket));
  }

  /** Resolves for one waiter per turn of the event loop. */
  turn(): Promise<unknown> {
    this.#turn = this.#turn.then(() => new Promise(setImmediate));
    return this.#turn;
  }

  #open(socket: Duplex): void {
    if (this.#connections.size >= this.limits.connections && !this.#cutOldest(UNFINISHED, socket)) {
      socket.destroy();
      return;
    }
    const since = performance.now();
    this.#connections.set(socket, { since, response: null, unread: null });
    socket.once('close', () => this.#forget(socket));
  }

  /** Closes the oldest connection, of a kind from `first` to {@link UNREAD}; returns false without one. */
  #cutOldest(first: number, except: Duplex): boolean {
    let found: { socket: Duplex; kind: number; since: number } | null = null;
    for (const [socket, connection] of this.#connections) {
      const kind = kindOf(connection);
      const { since } = connection;
      if (kind < first || kind === BUSY || socket === except) continue;
      if (found && (kind > found.kind || (kind === found.kind && since >= found.since))) continue;
      found = { socket, kind, since };
    }
    if (!found) return false;
    this.onCut(found.socket);
    this.#forget(found.socket);
    found.socket.destroy();
    return true;
  }

  #forget(socket: Duplex): void {
    const connection = this.#connections.get(socket);
    if (!connection) return;
    this.#forgetBody(connection);
    this.#connections.delete(socket);
  }

  #forgetBody(connection: Connection): void {
    const body = connection.unread;
    const held = body && this.#unread.get(body);
    connection.unread = null;
    if (!held || --held.readers > 0) return;
    this.#unread.delete(body);
    this.#unreadBytes -= held.bytes;
  }
}

function kindOf({ response }: Connection): number {
  if (!response?.req.complete) return UNFINISHED;
  if (response.writableFinished) return IDLE;
  return response.headersSent ? UNREAD : BUSY;
}
