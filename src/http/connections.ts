import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

interface Connection {
  /** When the connection was opened or its latest request began, in monotonic ms. */
  since: number;
  /** To its latest request. */
  response: ServerResponse | null;
}

/** The kinds of connections that may be closed, in that order. One whose request is being answered is `busy` and never closed. */
const CLOSABLE = ['unfinished', 'idle', 'unread'] as const;

type ConnectionKind = (typeof CLOSABLE)[number] | 'busy';

/**
 * The connections of a server. At the limit, a new connection replaces the one that has been unfinished for longest, so silent, slow
 * and unread connections do not block other clients (threats, row 14).
 */
export class Connections {
  readonly #connections = new Map<Duplex, Connection>();

  /** @param onCut called before a connection is destroyed to make room */
  constructor(
    private readonly limit: number,
    private readonly onCut: (socket: Duplex) => void,
  ) {}

  /** Takes a new connection; destroys it if there is no room. */
  add(socket: Duplex): void {
    if (this.#connections.size >= this.limit && !this.#cutOldest()) {
      socket.destroy();
      return;
    }
    const since = performance.now();
    this.#connections.set(socket, { since, response: null });
    socket.once('close', () => this.#connections.delete(socket));
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

  /** Closes the oldest connection of the first kind that there is; returns false if all are busy. */
  #cutOldest(): boolean {
    const oldest = this.#oldestOfEachKind();
    const socket = CLOSABLE.map(kind => oldest.get(kind)).find(each => each !== undefined)?.socket;
    if (!socket) return false;
    this.onCut(socket);
    this.#connections.delete(socket);
    socket.destroy();
    return true;
  }

  #oldestOfEachKind() {
    const oldest = new Map<ConnectionKind, { readonly socket: Duplex; readonly since: number }>();
    for (const [socket, connection] of this.#connections) {
      const { since } = connection;
      const kind = kindOf(connection);
      if (since < (oldest.get(kind)?.since ?? Number.POSITIVE_INFINITY)) oldest.set(kind, { socket, since });
    }
    return oldest;
  }
}

function kindOf({ response }: Connection): ConnectionKind {
  if (!response?.req.complete) return 'unfinished';
  if (response.writableFinished) return 'idle';
  return response.headersSent ? 'unread' : 'busy';
}
