import type { ClientRequest } from 'node:http';
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { errnoOf } from '../util/errors.js';
import { LIMITS } from '../util/limits.js';
import { type ClientOptions, connectionOptions, destinationOf } from './addresses.js';
import type { HttpAnswer, HttpClient, HttpRequest } from './client.js';
import { bodyOf, headersFor, requestTarget } from './outgoing-request.js';
import { ResponseReader } from './response-reader.js';
import { asTransportError } from './transport-error.js';

// On Node 22 and later, importing node:http as an ES module loads all of undici.
const { Agent: PlainAgent, request: plainRequest } = process.getBuiltinModule('node:http');

/**
 * Creates a client on node:http, which loads fast. Each request has a connection of its own: a server may close a used one at any time, and
 * nothing shows whether it has read the next request. Servers do not know: a tool may acknowledge before it has read the body, and after
 * `Connection: close` its server would drop that body.
 */
export function createNodeClient(options: ClientOptions = {}): HttpClient {
  const agentOptions = { keepAlive: true, ...connectionOptions(options) };
  const plain: Sender = { request: plainRequest, agent: closingAfterUse(new PlainAgent(agentOptions)) };
  let secure: Sender | undefined;
  const secureSender = (): Sender => {
    const { request, Agent } = process.getBuiltinModule('node:https');
    secure ??= { request, agent: closingAfterUse(new Agent(agentOptions)) };
    return secure;
  };
  const open = new Set<ResponseReader>();

  const send = async (request: HttpRequest): Promise<HttpAnswer> => {
    const url = destinationOf(request.url);
    const sending = start(url.protocol === 'http:' ? plain : secureSender(), url, request);
    const reader = new ResponseReader(request, options.clock);
    open.add(reader);
    sending.once('close', () => open.delete(reader));
    report(sending, reader);
    const body = bodyOf(request);
    if (body instanceof Readable) body.pipe(sending);
    else sending.end(body);
    return reader.answer;
  };
  const close = async () => {
    for (const reader of open) reader.cancel('the client was closed');
    plain.agent.destroy();
    secure?.agent.destroy();
  };
  return { send, close };
}

interface Sender {
  readonly request: typeof plainRequest;
  readonly agent: InstanceType<typeof PlainAgent>;
}

function closingAfterUse(agent: Sender['agent']): Sender['agent'] {
  agent.keepSocketAlive = () => {};
  return agent;
}

/** @throws TransportError `BAD_HEADER`. */
function start({ request: send, agent }: Sender, url: URL, request: HttpRequest): ClientRequest {
  const { method } = request;
  const path = requestTarget(request.url, url);
  try {
    return send(url, {
      agent,
      method,
      path,
      headers: headersFor(request),
      maxHeaderSize: LIMITS.headerBytes.value,
    });
  } catch (error) {
    throw asTransportError(error, 'connect');
  }
}

const HUNG_UP = Object.assign(new Error('the connection was closed without an answer'), {
  code: 'ECONNRESET',
});

function report(sending: ClientRequest, reader: ResponseReader): void {
  reader.opened(() => sending.destroy());
  sending.once('socket', socket => {
    readOnAfterFailedWrites(socket);
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => reader.connected());
  });
  sending.on('error', error => reader.failed(error));
  sending.once('close', () => reader.failed(HUNG_UP)); // a 101 closes without an error; no effect once settled
  sending.once('response', response => {
    reader.head(response.statusCode ?? 0, response.headers);
    response
      .on('data', chunk => reader.chunk(chunk))
      .once('end', () => reader.end())
      .on('error', error => reader.failed(error));
  });
}

/**
 * A server may answer and close before it has read the whole body. Then writing fails, which would also end the reading of the answer. Such
 * errors are ignored: without an answer, reading fails next.
 */
function readOnAfterFailedWrites(socket: Socket): void {
  const destroy = socket.destroy.bind(socket);
  const write = socket._write.bind(socket);
  const writeAll = socket._writev?.bind(socket);
  socket.destroy = error => (isFailedWrite(error) ? socket : destroy(error));
  socket._write = (chunk, encoding, done) =>
    write(chunk, encoding, error => done(isFailedWrite(error) ? null : error));
  if (writeAll)
    socket._writev = (chunks, done) => writeAll(chunks, error => done(isFailedWrite(error) ? null : error));
}

const CLOSED: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

function isFailedWrite(error: unknown): boolean {
  return (
    error instanceof Error && CLOSED.has(errnoOf(error)) && 'syscall' in error && error.syscall === 'write'
  );
}
