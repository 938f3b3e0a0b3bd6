import type { ClientRequest } from 'node:http';
import { Readable } from 'node:stream';
import { type ClientOptions, destinationOf, guardedLookup } from './addresses.js';
import {
  asTransportError,
  drip,
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

/**
 * A client on node:http: quick to load, for single requests. It keeps connections open: a tool may acknowledge before it has read
 * the body, and after `Connection: close` its server would drop that body.
 */
export function createNodeClient(options: ClientOptions = {}): HttpClient {
  const agents = new Agents(options);
  const open = new Set<ResponseReader>();

  const send = async (request: HttpRequest): Promise<HttpAnswer> => {
    const url = destinationOf(request.url);
    const sending = start(await agents.of(url), url, request);
    const reader = new ResponseReader(request);
    open.add(reader);
    sending.once('close', () => open.delete(reader));
    report(sending, reader);
    write(sending, request);
    return reader.answer;
  };
  const close = async () => {
    for (const reader of open) reader.cancel('the client was closed');
    await agents.close();
  };
  return { send, close };
}

interface Sender {
  readonly request: typeof plainRequest;
  readonly agent: InstanceType<typeof PlainAgent>;
}

/** One agent for http, and one for https, loaded on first use. */
class Agents {
  readonly #options: { readonly keepAlive: true; readonly lookup: ReturnType<typeof guardedLookup> };
  readonly #open = new Map<string, Promise<Sender>>();

  constructor(options: ClientOptions) {
    this.#options = { keepAlive: true, lookup: guardedLookup(options) };
  }

  of({ protocol }: URL): Promise<Sender> {
    const sender = this.#open.get(protocol) ?? (protocol === 'https:' ? this.#secure() : this.#plain());
    this.#open.set(protocol, sender);
    return sender;
  }

  async close(): Promise<void> {
    for (const { agent } of await Promise.all(this.#open.values())) agent.destroy();
  }

  async #plain(): Promise<Sender> {
    return { request: plainRequest, agent: new PlainAgent(this.#options) };
  }

  async #secure(): Promise<Sender> {
    const { request, Agent } = await import('node:https');
    return { request, agent: new Agent(this.#options) };
  }
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

function write(sending: ClientRequest, { body, pace }: HttpRequest): void {
  if (body && pace) Readable.from(drip(body, pace)).pipe(sending);
  else sending.end(body);
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
