import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errnoOf, messageOf, ProtocolCliError } from '../util/errors.js';
import { LIMITS } from '../util/limits.js';
import { announcedLength, ByteGatherer, hasBody } from './body.js';
import { isServed } from './free-port.js';
import { Guard } from './guard.js';
import { type Answer, Denial, Incoming, type Reply, type Route } from './route.js';

// On Node 22 and later, importing node:http as an ES module loads all of undici.
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

const NOTHING = new Uint8Array(0);

const WITHOUT_BODY = new Set([204, 304]);

/** Limits of a server (threats, row 14). Times in milliseconds. */
const SERVER_LIMITS = {
  /** Time limit for the head of a request, also on a silent connection. */
  headersMs: LIMITS.headersMs.value,
  /** Time limit for a whole request, and for a client that does not read its answer. */
  requestMs: LIMITS.requestMs.value,
  connections: LIMITS.connections.value,
  headerBytes: LIMITS.headerBytes.value,
  checkEveryMs: 500,
  /** How long a refused client may continue to send before its connection is closed. */
  lingerMs: LIMITS.refusedMs.value,
  /** How long open requests may continue when the server closes. */
  closeMs: 500,
};

interface ServerOptions {
  /** Default: 127.0.0.1. For a wildcard the caller prints a warning, see `isWildcard`. */
  readonly host?: string;
  readonly port?: number;
  /** Additional allowed Host values: `name` with any port, `name:port` with that port. */
  readonly allowedHosts?: readonly string[];
  readonly routes: readonly Route[];
  /** The path below which the routes are served, such as `/a1b2`; all other paths are unknown. Default: none. */
  readonly basePath?: string;
  readonly maxBody: number;
  readonly limits?: Partial<typeof SERVER_LIMITS>;
  /**
   * Answers include the reason of a refusal, as text or `{"detail":…}`. The texts repeat nothing from the request (threats, row 28).
   */
  readonly explains?: boolean | 'json';
  readonly onRefused?: (denial: Denial, request: Incoming) => void;
}

/**
 * Handles every request and reports each refusal once, also for broken requests: bytes that are not HTTP, oversized heads, slow
 * senders (threats, rows 4, 14 and 17).
 */
class RequestHandler {
  readonly #reported = new WeakSet<Duplex>();
  readonly #connections: Connections;

  constructor(
    server: Server,
    private readonly guard: Guard,
    private readonly options: ServerOptions,
    private readonly limits: typeof SERVER_LIMITS,
  ) {
    this.#connections = new Connections(server, limits, socket => this.#cut(socket));
    const listener = (_: IncomingMessage, response: ServerResponse) =>
      void this.#serve(response).catch(error =>
        this.#deny(new Denial(500, 'failed', `its handler failed: ${messageOf(error)}`), response),
      );
    server.on('request', listener).on('checkContinue', listener);
    server.on('clientError', (error, socket) => this.#refuse(error, socket));
    server.on('error', ({ message }) =>
      this.#report(new Denial(0, 'failed', `a connection was not accepted: ${message}`)),
    );
  }

  async #serve(response: ServerResponse): Promise<void> {
    this.#connections.begin(response);
    const reply = await this.#reply(response);
    if (reply instanceof Denial) await this.#deny(reply, response);
    else if (reply === 'reset') response.req.socket.resetAndDestroy();
    else await this.#send(response, reply);
  }

  async #reply(response: ServerResponse): Promise<Reply | Denial> {
    const { req: request } = response;
    const incoming = new Incoming(request, { response, basePath: this.options.basePath });
    const route = this.guard.admit(request, incoming);
    if (!('handle' in route)) return route;
    if (route.accepts === 'nothing') return route.handle(incoming, NOTHING);
    if (request.headers.expect !== undefined) response.writeContinue();
    const body = await readBody(request, this.options.maxBody);
    return body instanceof Denial ? body : route.handle(incoming, body);
  }

  async #deny(denial: Denial, response: ServerResponse): Promise<void> {
    const { req: request } = response;
    if (!this.#reported.has(request.socket)) this.#report(denial, request);
    if (response.headersSent) request.socket.destroy();
    else if (denial.status > 0) await this.#send(response, answerTo(denial, this.options.explains ?? false));
  }

  /** Sends an answer; closes the connection if the request was not read completely. */
  async #send(response: ServerResponse, answer: Answer): Promise<void> {
    const isUnread = hasBody(response.req) && !response.req.readableEnded;
    writeHead(response, answer, isUnread);
    if (answer.pieces) await this.#sendPieces(response, answer.pieces);
    if (isUnread) await this.#sendAhead(response, answer.body ?? '');
    else await new Promise(setImmediate); // sending all answers of one turn together is faster
    this.#end(response, answer, isUnread);
  }

  #end(response: ServerResponse, { body = '', sent }: Answer, isSent: boolean): void {
    response.end(isSent || body.length === 0 ? undefined : body); // sends the head in one packet
    this.#watchReading(response);
    sent?.();
  }

  /** Sends each piece after the client has read the previous ones; other requests are served in between. */
  async #sendPieces(response: ServerResponse, pieces: NonNullable<Answer['pieces']>) {
    for await (const piece of pieces) {
      const isTaken = response.write(piece);
      this.#watchReading(response);
      await (isTaken ? new Promise(setImmediate) : untilDrained(response));
      if (response.destroyed) return;
    }
  }

  /** Must be called after each write of an answer: disconnects a client that stops reading. */
  #watchReading({ req: { socket } }: ServerResponse): void {
    if (socket.writableLength > 0) socket.setTimeout(this.limits.requestMs); // time without progress
  }

  /** Closing with unread bytes would reset the connection and lose the answer, so send it first and then let the client finish. */
  async #sendAhead(response: ServerResponse, body: string | Uint8Array) {
    response.flushHeaders();
    if (body.length > 0) response.write(body);
    await drain(response.req, this.limits.lingerMs);
  }

  #report(denial: Denial, request?: IncomingMessage): void {
    this.options.onRefused?.(denial, new Incoming(request, { basePath: this.options.basePath }));
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

/**
 * Runs `work` two turns later, in order, for work that may take seconds: `#send` sends an answer one turn after its handler logged it.
 * Work that follows one answer uses `sent` of that answer.
 */
export function afterAnswer(work: () => void): void {
  setImmediate(() => setImmediate(work));
}

/** Reads at most `maxBody` bytes of a request's body. Never throws: an aborted request also resolves to a denial. */
function readBody(request: IncomingMessage, maxBody: number): Promise<Uint8Array | Denial> {
  return new Promise(resolve => {
    const gatherer = new ByteGatherer(maxBody, announcedLength(request.headers));
    const end = () => resolve(gatherer.bytes());
    const take = (chunk: Uint8Array) => {
      if (gatherer.add(chunk)) return;
      request.off('data', take).off('end', end).pause();
      gatherer.drop(); // the sender may continue for a while
      resolve(Denial.tooLarge(maxBody));
    };
    request
      .on('data', take)
      .on('end', end)
      .on('error', () =>
        resolve(new Denial(0, 'aborted', 'the sender disconnected in the middle of the body')),
      );
  });
}

/** Reads and drops the rest of a request; resolves at its end, or after `LIMITS.refusedBytes` or `ms`. */
function drain(request: IncomingMessage, ms: number): Promise<void> {
  return new Promise(resolve => {
    const settle = () => {
      clearTimeout(timer);
      request.off('data', drop).pause();
      resolve();
    };
    let left = LIMITS.refusedBytes.value;
    const drop = (chunk: Uint8Array) => {
      left -= chunk.length;
      if (left < 0) settle();
    };
    const timer = setTimeout(settle, ms);
    request.on('data', drop).once('close', settle).once('error', settle);
  });
}

function writeHead(
  response: ServerResponse,
  { status, headers, body = '', pieces }: Answer,
  isUnread: boolean,
) {
  const head: Record<string, string | number | string[]> = {
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

interface Connection {
  /** When the connection was opened or its latest request began, in monotonic ms. */
  since: number;
  /** To its latest request. */
  response: ServerResponse | null;
}

/** The order in which connections are closed, lowest first. BUSY connections, whose request is being answered, are never closed. */
const [UNFINISHED, IDLE, UNREAD, BUSY] = [0, 1, 2, 3];

/**
 * The connections of a server. At the limit, a new connection replaces the one that has been unfinished for longest, so silent, slow
 * and unread connections do not block other clients (threats, row 14).
 */
class Connections {
  readonly #connections = new Map<Duplex, Connection>();

  /** @param onCut called before a connection is destroyed to make room. */
  constructor(
    server: Server,
    private readonly limits: typeof SERVER_LIMITS,
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

  #open(socket: Duplex): void {
    if (this.#connections.size >= this.limits.connections && !this.#cutOldest()) {
      socket.destroy();
      return;
    }
    const since = performance.now();
    this.#connections.set(socket, { since, response: null });
    socket.once('close', () => this.#connections.delete(socket));
  }

  /** Closes the oldest connection of the lowest kind; returns false if all are busy. */
  #cutOldest(): boolean {
    let found: { socket: Duplex; kind: number; since: number } | null = null;
    for (const [socket, connection] of this.#connections) {
      const kind = kindOf(connection);
      const { since } = connection;
      if (kind === BUSY) continue;
      if (found && (kind > found.kind || (kind === found.kind && since >= found.since))) continue;
      found = { socket, kind, since };
    }
    if (!found) return false;
    this.onCut(found.socket);
    this.#connections.delete(found.socket);
    found.socket.destroy();
    return true;
  }
}

function kindOf({ response }: Connection): number {
  if (!response?.req.complete) return UNFINISHED;
  if (response.writableFinished) return IDLE;
  return response.headersSent ? UNREAD : BUSY;
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

function portInUse(address: string, port: number, cause?: Error): ProtocolCliError {
  return new ProtocolCliError('port-in-use', `port ${port} on ${address} is already in use`, {
    hint: 'Stop the process that listens there, or choose another port (0: any free port).',
    cause,
  });
}

function explain(error: Error, address: string, port: number): ProtocolCliError {
  if (errnoOf(error) === 'EADDRINUSE') return portInUse(address, port, error);
  const place = address.includes(':') ? `[${address}]` : address;
  return new ProtocolCliError('usage', `cannot listen on ${place}:${port}: ${error.message}`, {
    hint: 'Choose an address of this machine, and a port that you are allowed to open.',
    cause: error,
  });
}

const SWEEP_MS = 10;

export interface RunningServer extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:port`, or the bound address, with the base path; never `localhost` (threats, row 6). */
  readonly url: string;
  /** Stops listening, ends idle connections, then closes the others after a grace period. */
  close(): Promise<void>;
}

/**
 * Serves routes behind one guard (threats, rows 2 to 6, 14 to 17 and 28).
 * @throws ProtocolCliError `port-in-use`; `usage` for an invalid address or allowed host.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const limits = { ...SERVER_LIMITS, ...options.limits };
  const guard = new Guard(options);
  const server = createServer({
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    maxHeaderSize: limits.headerBytes,
    insecureHTTPParser: false,
    requireHostHeader: false, // the guard checks Host and reports the reason
  });
  server.maxHeadersCount = 0; // by default Node drops headers beyond a count, perhaps the Origin; their total size is limited
  const wanted = options.port ?? 0;
  if (await isServed(guard.address, wanted)) throw portInUse(guard.address, wanted);
  server.listen({ host: guard.address, port: wanted });
  await once(server, 'listening').catch(error => {
    throw explain(error, guard.address, wanted);
  });
  const bound = server.address();
  const port = typeof bound === 'object' && bound ? bound.port : 0;
  new RequestHandler(server, guard, options, limits);
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= stop(server, limits.closeMs));
  return {
    port,
    url: `http://${guard.own}:${port}${options.basePath ?? ''}`,
    close,
    [Symbol.asyncDispose]: close,
  };
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
