import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { errnoOf, messageOf, ProtocolCliError } from '../util/errors.js';
import { LIMITS } from '../util/limits.js';
import { hasBody } from './body.js';
import { Connections } from './connections.js';
import { answerTo, denialOf, rawAnswer } from './denial-answer.js';
import { isServed } from './free-port.js';
import { Guard } from './guard.js';
import { drain, readBody } from './read-body.js';
import { type Answer, Denial, Incoming, type Reply, type Route } from './route.js';

// On Node 22 and later, importing node:http as an ES module loads all of undici.
const { createServer } = process.getBuiltinModule('node:http');

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
    private readonly guard: Guard,
    private readonly options: ServerOptions,
    private readonly limits: typeof SERVER_LIMITS,
  ) {
    this.#connections = new Connections(limits.connections, socket => this.#cut(socket));
  }

  listenTo(server: Server): void {
    server.on('connection', (socket: Duplex) => this.#connections.add(socket));
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
    if (route === 'reset' || !('handle' in route)) return route;
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
    const { body = '', pieces, sent } = answer;
    const isUnread = hasBody(response.req) && !response.req.readableEnded;
    writeHead(response, answer, isUnread);
    if (pieces) await this.#sendPieces(response, pieces);
    if (isUnread) await this.#sendAhead(response, body);
    else await new Promise(setImmediate); // sending all answers of one turn together is faster
    response.end(isUnread || body.length === 0 ? undefined : body); // sends the head in one packet
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
  new RequestHandler(guard, options, limits).listenTo(server);
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
