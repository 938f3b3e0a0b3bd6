import type { ClientRequest } from 'node:http';
import { Readable } from 'node:stream';
import { type ClientOptions, destinationOf, guardedLookup } from './addresses.js';
import {
  asTransportError,
  bodyOf,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  headersFor,
  MAX_HEADER_BYTES,
  ResponseReader,
  requestTarget,
} from './client.js';

// On Node 22 and later, importing node:http as an ES module loads all of undici.
const { Agent: PlainAgent, request: plainRequest } = process.getBuiltinModule('node:http');

/** A server may close an idle connection at any time, and some requests are sent only once: an older one is not used. */
const MAX_IDLE_MS = 1_000;

/**
 * Creates a client on node:http, which loads fast and suits single requests. Connections are kept alive: a tool may acknowledge before
 * it has read the body, and after `Connection: close` its server would drop that body.
 */
export function createNodeClient(options: ClientOptions = {}): HttpClient {
  const agentOptions = { keepAlive: true, timeout: MAX_IDLE_MS, lookup: guardedLookup(options) };
  const plain: Sender = { request: plainRequest, agent: new PlainAgent(agentOptions) };
  let secure: Sender | undefined;
  const secureSender = (): Sender => {
    const { request, Agent } = process.getBuiltinModule('node:https');
    secure ??= { request, agent: new Agent(agentOptions) };
    return secure;
  };
  const open = new Set<ResponseReader>();
  let sentAt = Number.NEGATIVE_INFINITY;

  const send = async (request: HttpRequest): Promise<HttpAnswer> => {
    const url = destinationOf(request.url);
    if (performance.now() - sentAt > MAX_IDLE_MS) await readClosings();
    sentAt = performance.now();
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

/** Lets the event loop read once what has arrived: during a long computation, a server may have closed a connection that is idle. */
async function readClosings(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
}

interface Sender {
  readonly request: typeof plainRequest;
  readonly agent: InstanceType<typeof PlainAgent>;
}

/** @throws TransportError `BAD_HEADER`. */
function start({ request: send, agent }: Sender, url: URL, request: HttpRequest): ClientRequest {
  const { method } = request;
  const path = requestTarget(request.url, url);
  try {
    return send(url, { agent, method, path, headers: headersFor(request), maxHeaderSize: MAX_HEADER_BYTES });
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
    if (socket.connecting)
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => reader.connected());
    else reader.connected();
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
