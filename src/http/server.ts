import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errnoOf, messageOf, ProtocolCliError } from '../util/errors.js';
import { BodyShare, drain, hasBody, readBody } from './body.js';
import { admit, bracketed, type GuardOptions, hostNames } from './guard.js';
import { type Answer, Denial, type Incoming, type Refusal, type Reply } from './route.js';

// On Node 22 and later, importing node:http as an ES module loads all of undici.
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

const LINGER_BYTES = 16 * 1024 * 1024;

const NOTHING = new Uint8Array(0);

const WITHOUT_BODY = new Set([204, 304]);

/** Limits of a server (threats, row 14). Times in milliseconds. */
interface ServerLimits {
  /** Time limit for the head of a request, also on a silent connection. */
  readonly headersMs: number;
  /** Time limit for a whole request, and for a client that does not read its answer. */
  readonly requestMs: number;
  readonly connections: number;
  /** Budget for the bodies of all requests in flight; one body of the largest allowed size always fits. */
  readonly bodyBytes: number;
  /** Budget for all answers that were written but not yet read. */
  readonly unreadBytes: number;
  readonly headerBytes: number;
  readonly checkEveryMs: number;
  /** How long a refused client may continue to send before its connection is closed. */
  readonly lingerMs: number;
  /** How long open requests may continue when the server closes. */
  readonly closeMs: number;
}

const MIB = 1024 * 1024;

const DEFAULT_LIMITS: ServerLimits = {
  headersMs: 5_000,
  requestMs: 15_000,
  connections: 256,
  bodyBytes: 128 * MIB,
  unreadBytes: 128 * MIB,
  headerBytes: 16 * 1024,
  checkEveryMs: 500,
  lingerMs: 1_000,
  closeMs: 500,
};

interface Connection {
  /** When the connection was opened or its latest request began, in monotonic ms. */
  since: number;
  request: IncomingMessage | null;
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
class Connections {
  readonly #connections = new Map<Duplex, Connection>();
  /** Bodies that are not read yet, with the number of connections they are sent to. */
  readonly #unread = new Map<object, { readonly bytes: number; readers: number }>();
  #unreadBytes = 0;
  #turn: Promise<unknown> = Promise.resolve();

  /** @param onCut called before a connection is destroyed to make room. */
  constructor(
    server: Server,
    private readonly limits: ServerLimits,
    private readonly onCut: (socket: Duplex) => void,
  ) {
    server.on('connection', (socket: Duplex) => this.#open(socket));
  }

  begin(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#connections.get(request.socket);
    if (!connection) return;
    connection.since = performance.now();
    connection.request = request;
    connection.response = response;
  }

  unanswered(socket: Duplex): ServerResponse | undefined {
    const { response } = this.#connections.get(socket) ?? {};
    return response && !response.writableFinished ? response : undefined;
  }

  /** Must be called after each write of an answer: disconnects a client that stops reading. */
  watchReading({ socket }: IncomingMessage, response: ServerResponse, body: string | Uint8Array): void {
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
    this.#connections.set(socket, { since, request: null, response: null, unread: null });
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

function kindOf({ request, response }: Connection): number {
  if (!request?.complete || !response) return UNFINISHED;
  if (response.writableFinished) return IDLE;
  return response.headersSent ? UNREAD : BUSY;
}

interface Responder extends GuardOptions {
  /**
   * Answers include the reason of a refusal, as text or `{"detail":…}`. The texts repeat nothing from the request (threats, row 28).
   */
  readonly explains?: boolean | 'json';
  readonly onRefused?: (refusal: Refusal) => void;
}

/**
 * Handles every request and reports each refusal once, also for broken requests: bytes that are not HTTP, oversized heads, slow
 * senders (threats, rows 4, 14 and 17).
 */
class RequestHandler {
  readonly #reported = new WeakSet<Duplex>();
  readonly #connections: Connections;
  readonly #budget: { bytes: number };

  constructor(
    server: Server,
    private readonly options: Responder,
    private readonly limits: ServerLimits,
  ) {
    this.#budget = { bytes: Math.max(limits.bodyBytes, options.maxBody) };
    this.#connections = new Connections(server, limits, socket => this.#cut(socket));
    const listener = (request: IncomingMessage, response: ServerResponse) =>
      void this.#serve(request, response).catch(error =>
        this.#deny(new Denial(500, 'failed', `its handler failed: ${messageOf(error)}`), request, response),
      );
    server.on('request', listener).on('checkContinue', listener);
    server.on('clientError', (error, socket) => this.#refuse(error, socket));
    server.on('error', ({ message }) =>
      this.#report(new Denial(0, 'failed', `a connection was not accepted: ${message}`)),
    );
  }

  /** Small, as each `async` function here: it holds room for all its variables as long as it waits, and every call needs some. */
  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#connections.begin(request, response);
    const share = new BodyShare(this.#budget);
    try {
      const reply = await this.#reply(request, response, share);
      if (reply instanceof Denial) await this.#deny(reply, request, response);
      else if (reply === 'reset') request.socket.resetAndDestroy();
      else await this.#send(request, response, reply);
    } finally {
      share.release();
    }
  }

  #reply(
    request: IncomingMessage,
    response: ServerResponse,
    share: BodyShare,
  ): Reply | Denial | Promise<Reply | Denial> {
    const route = admit(request, this.options);
    if (!('handle' in route)) return route;
    if (route.accepts === 'nothing') return route.handle(incoming(request, response, NOTHING));
    if (request.headers.expect !== undefined) response.writeContinue();
    return readBody(request, this.options.maxBody, share).then(body =>
      body instanceof Denial ? body : route.handle(incoming(request, response, body)),
    );
  }

  async #deny(denial: Denial, request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#reported.has(request.socket)) this.#report(denial, request);
    if (response.headersSent) request.socket.destroy();
    else if (denial.status > 0)
      await this.#send(request, response, answerTo(denial, this.options.explains ?? false));
  }

  /** Sends an answer; closes the connection if the request was not read completely. */
  async #send(request: IncomingMessage, response: ServerResponse, answer: Answer): Promise<void> {
    const isUnread = hasBody(request) && !request.readableEnded;
    writeHead(response, answer, isUnread);
    if (answer.pieces) await this.#sendPieces(request, response, answer.pieces);
    if (isUnread) await this.#sendAhead(request, response, answer.body ?? '');
    else await new Promise(setImmediate); // sending all answers of one turn together is faster
    this.#end(request, response, answer, isUnread);
  }

  #end(
    request: IncomingMessage,
    response: ServerResponse,
    { body = '', sent }: Answer,
    isSent: boolean,
  ): void {
    response.end(isSent || body.length === 0 ? undefined : body); // sends the head in one packet
    this.#connections.watchReading(request, response, body);
    sent?.();
  }

  /** Sends one piece per turn, so other requests are served in between, and only after the client has read the previous ones. */
  async #sendPieces(request: IncomingMessage, response: ServerResponse, pieces: Iterable<Uint8Array>) {
    await this.#connections.turn();
    for (const piece of pieces) {
      const isTaken = response.write(piece);
      this.#connections.watchReading(request, response, NOTHING);
      if (!isTaken) await untilDrained(response);
      await this.#connections.turn();
      if (response.destroyed) return;
    }
  }

  /** Closing with unread bytes would reset the connection and lose the answer, so send it first and then let the client finish. */
  async #sendAhead(request: IncomingMessage, response: ServerResponse, body: string | Uint8Array) {
    response.flushHeaders();
    if (body.length > 0) response.write(body);
    await drain(request, { bytes: LINGER_BYTES, ms: this.limits.lingerMs });
  }

  #report({ status, reason, detail }: Denial, request?: IncomingMessage): void {
    const { method, url: target, headers } = request ?? {};
    this.options.onRefused?.({
      status,
      reason,
      detail,
      ...(request && { method, target, headers }),
    });
  }

  #refuse(error: Error, socket: Duplex): void {
    if (this.#reported.has(socket)) return;
    const denial = denialOf(error);
    const unanswered = this.#connections.unanswered(socket);
    // A second status line would become part of an answer that is being sent.
    if (!denial || !socket.writable || unanswered?.headersSent) {
      socket.destroy();
      return;
    }
    this.#reported.add(socket);
    socket.end(rawAnswer(denial.status));
    setTimeout(() => socket.destroy(), this.limits.lingerMs).unref(); // closing immediately would lose the answer
    this.#report(denial, unanswered?.req);
  }

  #cut(socket: Duplex): void {
    const request = this.#connections.unanswered(socket)?.req;
    if (!request || request.complete) return;
    this.#reported.add(socket);
    const why = 'it was closed for another connection, since it was unfinished for longest';
    this.#report(new Denial(0, 'slow', why), request);
  }
}

function writeHead(
  response: ServerResponse,
  { status, headers, body = '', pieces }: Answer,
  isUnread: boolean,
) {
  const head: Record<string, string | number> = {
    'content-type': 'text/plain; charset=utf-8',
    'x-content-type-options': 'nosniff', // keeps browsers from treating an answer as a page or a script (threats, row 28)
  };
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  if (!WITHOUT_BODY.has(status) && !pieces) head['content-length'] = length;
  if (isUnread) head['connection'] = 'close';
  for (const name in headers) head[name.toLowerCase()] = headers[name] ?? '';
  response.writeHead(status, head);
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

function answerTo({ status, headers, detail }: Denial, explains: boolean | 'json'): Answer {
  if (!explains || status >= 500) return { status, headers };
  const text = `refused: ${detail}`;
  if (explains !== 'json') return { status, headers, body: `${text}\n` };
  const json = { 'Content-Type': 'application/json' };
  return { status, headers: { ...headers, ...json }, body: JSON.stringify({ detail: text }) };
}

function incoming(
  { method = '', url = '', headers, socket }: IncomingMessage,
  response: ServerResponse,
  body: Uint8Array,
): Incoming {
  const onGone = (callback: () => void) =>
    void response.once('close', () => {
      if (!response.writableEnded) callback();
    });
  return { method, target: url, headers, body, remote: socket.remoteAddress ?? '', onGone };
}

/**
 * Starts listening.
 * @returns the port.
 * @throws ProtocolCliError `port-in-use`, or `usage` if the address does not belong to this machine.
 */
function listen(server: Server, address: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error) => reject(explain(error, address, port));
    server.once('error', fail);
    server.listen({ host: address, port }, () => {
      server.off('error', fail);
      resolve(portOf(server));
    });
  });
}

function portOf(server: Server): number {
  const bound = server.address();
  return typeof bound === 'object' && bound ? bound.port : 0;
}

function explain(error: Error, address: string, port: number): ProtocolCliError {
  if (errnoOf(error) === 'EADDRINUSE')
    return new ProtocolCliError('port-in-use', `port ${port} on ${address} is already in use`, {
      hint: 'Stop the process that listens there, or choose another port (0: any free port).',
      cause: error,
    });
  return new ProtocolCliError('usage', `cannot listen on ${bracketed(address)}:${port}: ${error.message}`, {
    hint: 'Choose an address of this machine, and a port that you are allowed to open.',
    cause: error,
  });
}

const SWEEP_MS = 10;

interface ServerOptions extends Omit<Responder, 'allowsHost'> {
  /** Default: 127.0.0.1. For a wildcard the caller prints a warning, see `isWildcard`. */
  readonly host?: string;
  readonly port?: number;
  /** Additional allowed Host values: `name` with any port, `name:port` with that port. */
  readonly allowedHosts?: readonly string[];
  readonly limits?: Partial<ServerLimits>;
}

export interface RunningServer extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:port`, or the bound address; never `localhost` (threats, row 6). */
  readonly url: string;
  /** Stops listening, ends idle connections, then closes the others after a grace period. */
  close(): Promise<void>;
}

/**
 * Serves routes behind one guard (threats, rows 2 to 6, 14 to 17 and 28).
 * @throws ProtocolCliError `port-in-use`; `usage` for an invalid address or allowed host.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { address, own, allows } = hostNames(options.host ?? '127.0.0.1', options.allowedHosts ?? []);
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    maxHeaderSize: limits.headerBytes,
    insecureHTTPParser: false,
    requireHostHeader: false, // the guard checks Host and reports the reason
  });
  server.maxHeadersCount = 0; // by default Node drops headers beyond a count, perhaps the Origin; their total size is limited
  const port = await listen(server, address, options.port ?? 0);
  new RequestHandler(server, { ...options, allowsHost: (host, peer) => allows(host, port, peer) }, limits);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= stop(server, limits.closeMs));
  return { port, url: `http://${own}:${port}`, close, [Symbol.asyncDispose]: close };
}

function stop(server: Server, graceMs: number): Promise<void> {
  return new Promise(resolve => {
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS); // connections become idle when their request is answered
    const cutOff = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(cutOff);
      resolve();
    });
  });
}
