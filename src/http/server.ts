import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ProtocolCliError } from '../util/errors.js';
import { isLoopback } from './addresses.js';
import { Connections } from './connections.js';
import { admit, type Door, hostList } from './guard.js';
import {
  type Answer,
  BodyShare,
  DEFAULT_LIMITS,
  Denial,
  drain,
  errnoOf,
  hasBody,
  type Incoming,
  parserOptions,
  type Refusal,
  type Reply,
  type Route,
  readBody,
  type ServerLimits,
} from './request-body.js';

// On Node 22 and later, importing node:http as an ES module loads all of undici.
const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');

const LINGER_BYTES = 16 * 1024 * 1024;
const ANSWERING_NOTHING = new Uint8Array(0);
const WITHOUT_BODY = new Set([204, 304]);

interface Sending {
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
    connections.watchReading(request, response, ANSWERING_NOTHING);
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

/**
 * Answers what never became a request, or stopped being one: bytes that are not HTTP, heads that are too large, senders that are
 * too slow (threats, rows 4, 14 and 17). Each is told once; the next connection is served as ever.
 */
class BrokenRequests {
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

interface Post extends Door {
  /**
   * Says in the answer why a request is refused, in words or as `{"detail":…}`: the texts are ours, and echo nothing (threats, row 28).
   * Bare unless told.
   */
  readonly explains?: boolean | 'json';
  readonly onRefused?: (refusal: Refusal) => void;
}

const NOTHING = new Uint8Array(0);

/** Takes every request of a server from its head to its answer, and tells which were refused and why. */
function attend(server: Server, post: Post, limits: ServerLimits): void {
  const budget = { bytes: Math.max(limits.bodyBytes, post.maxBody) };
  const tell = (denial: Denial, request?: IncomingMessage) => post.onRefused?.(refusalOf(denial, request));
  const broken = new BrokenRequests(server, tell, limits);
  const { connections } = broken;
  const send = (request: IncomingMessage, response: ServerResponse, answer: Answer) =>
    sendAnswer(request, response, answer, { lingerMs: limits.lingerMs, connections });

  const deny = async (denial: Denial, request: IncomingMessage, response: ServerResponse) => {
    if (!broken.knows(request.socket)) tell(denial, request);
    if (response.headersSent) request.socket.destroy();
    else if (denial.status > 0) await send(request, response, answerTo(denial, post));
  };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    connections.begin(request, response);
    const share = new BodyShare(budget);
    try {
      const reply = await replyTo(request, response, post, share);
      if (reply instanceof Denial) await deny(reply, request, response);
      else if (reply === 'reset') request.socket.resetAndDestroy();
      else await send(request, response, reply);
    } finally {
      share.release();
    }
  };
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void serve(request, response).catch(error => deny(failure(error), request, response));

  server.on('request', listener).on('checkContinue', listener);
  server.on('error', error =>
    tell(new Denial(0, 'failed', `a connection was not accepted: ${error.message}`)),
  );
}

function answerTo({ status, headers, detail }: Denial, { explains = false }: Post): Answer {
  if (!explains || status >= 500) return { status, headers };
  const words = `refused, since ${detail}`;
  if (explains !== 'json') return { status, headers, body: `${words}\n` };
  const json = { 'Content-Type': 'application/json' };
  return { status, headers: { ...headers, ...json }, body: JSON.stringify({ detail: words }) };
}

async function replyTo(
  request: IncomingMessage,
  response: ServerResponse,
  post: Post,
  share: BodyShare,
): Promise<Reply | Denial> {
  const route = admit(request, post);
  if (!('handle' in route)) return route;
  const body = await bodyFor(route, request, response, post.maxBody, share);
  return body instanceof Denial ? body : route.handle(incoming(request, response, body));
}

function bodyFor(
  route: Route,
  request: IncomingMessage,
  response: ServerResponse,
  maxBody: number,
  share: BodyShare,
) {
  if (route.accepts === 'nothing') return NOTHING;
  if (request.headers.expect !== undefined) response.writeContinue();
  return readBody(request, maxBody, share);
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

function refusalOf({ status, reason, detail }: Denial, request?: IncomingMessage): Refusal {
  const { method, url: target, headers } = request ?? {};
  return { status, reason, detail, ...(request && { method, target, host: headers?.host }) };
}

function failure(error: unknown): Denial {
  return new Denial(
    500,
    'failed',
    `its handler failed: ${error instanceof Error ? error.message : String(error)}`,
  );
}

const LOOPBACK = '127.0.0.1';
const WILDCARDS = new Set(['', '*', '0.0.0.0', '[::]', '[::ffff:0:0]']);

/** Whether binding to `host` would open every interface, in whatever spelling (threats, row 5). */
export function isWildcard(host: string): boolean {
  return WILDCARDS.has(canonical(host));
}

/** The address to listen on: `localhost` may resolve elsewhere, so it is taken as 127.0.0.1 (threats, row 6). */
function bindAddress(host: string): string {
  const name = canonical(host);
  if (name === 'localhost') return LOOPBACK;
  if (!isWildcard(host)) return unbracketed(name);
  return name === '[::]' ? '::' : '0.0.0.0';
}

/** The host of our own url, never a name that could resolve elsewhere. */
function advertisedHost(address: string): string {
  if (isWildcard(address)) return LOOPBACK;
  return bracketed(address);
}

/**
 * Starts listening.
 * @returns the port.
 * @throws ProtocolCliError `port-in-use`, or `usage` where the address is not one of this machine's.
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
      hint: 'Stop what listens there, or choose another port; 0 takes any free one.',
      cause: error,
    });
  return new ProtocolCliError('usage', `cannot listen on ${bracketed(address)}:${port}: ${error.message}`, {
    hint: 'Choose an address of this machine, and a port that you may open.',
    cause: error,
  });
}

/** As WHATWG URL writes it: `0`, `0x0` and `::0` are then all recognised. */
function canonical(host: string): string {
  const url = `http://${bracketed(host)}`;
  return URL.canParse(url) ? new URL(url).hostname : host;
}

function bracketed(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
}

function unbracketed(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

const SWEEP_MS = 10;

export interface ServerOptions {
  /** 127.0.0.1 unless told. A wildcard is bound without a word: the caller warns, see {@link isWildcard}. */
  readonly host?: string;
  /** Any free one unless told. */
  readonly port?: number;
  /** Names a request may use in Host besides the loopback's: `name` with any port, `name:port` with that one. */
  readonly allowedHosts?: readonly string[];
  readonly routes: readonly Route[];
  /** Bytes. */
  readonly maxBody: number;
  /** Tells whoever is refused why, in words or as `{"detail":…}`; a server of secret paths does not (threats, row 1). */
  readonly explains?: boolean | 'json';
  readonly limits?: Partial<ServerLimits>;
  readonly onRefused?: (refusal: Refusal) => void;
}

export interface RunningServer extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:port`, or the address it was told to bind; never `localhost` (threats, row 6). */
  readonly url: string;
  /** Stops listening, ends idle connections, then cuts off the rest. */
  close(): Promise<void>;
}

/**
 * Serves routes behind one guard (threats, rows 2 to 6, 14 to 17 and 28). Whatever comes in, the next request is served.
 * @throws ProtocolCliError `port-in-use`; `usage` for an address or an allowed host that is none.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const address = bindAddress(options.host ?? '127.0.0.1');
  const own = advertisedHost(address);
  const allowsHost = hostList(own, options.allowedHosts ?? []);
  const server = createServer(parserOptions(limits));
  server.maxHeadersCount = 0; // Node drops headers beyond a count, and an Origin among them; their size is bounded
  const port = await listen(server, address, options.port ?? 0);
  const isAllowed: Door['allowsHost'] = (host, peer) => allowsHost(host, port, isLoopback(peer));
  attend(server, { ...options, allowsHost: isAllowed }, limits);
  const close = closer(server, limits.closeMs);
  return { port, url: `http://${own}:${port}`, close, [Symbol.asyncDispose]: close };
}

function closer(server: Server, graceMs: number): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => {
    closed ??= stop(server, graceMs);
    return closed;
  };
}

function stop(server: Server, graceMs: number): Promise<void> {
  return new Promise(resolve => {
    const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS); // what is answered meanwhile falls idle
    const cutOff = setTimeout(() => server.closeAllConnections(), graceMs);
    server.close(() => {
      clearInterval(sweep);
      clearTimeout(cutOff);
      resolve();
    });
  });
}
