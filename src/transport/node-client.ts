import { type ClientRequest, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Readable } from 'node:stream';
import type { HttpAnswer, HttpClient, HttpRequest } from './client.js';
import { destinationOf } from './destination.js';
import { asTransportError } from './failure.js';
import { type ClientOptions, guardedLookup } from './lookup.js';
import { drip } from './pace.js';
import { Reception } from './reception.js';
import { headersFor, MAX_HEADER_BYTES } from './request-headers.js';
import { requestTarget } from './request-target.js';

/**
 * On node:http, with nothing to load: for single shots. Connections are kept open all the same: a tool may acknowledge before it
 * has read the body, and after `Connection: close` its server would throw that body away.
 */
export function createNodeClient(options: ClientOptions = {}): HttpClient {
  const doors = new Doors(options);
  const underWay = new Set<Reception>();

  const send = async (request: HttpRequest): Promise<HttpAnswer> => {
    const url = destinationOf(request.url);
    const sending = open(await doors.to(url), url, request);
    const reception = new Reception(request);
    underWay.add(reception);
    sending.once('close', () => underWay.delete(reception));
    report(sending, reception);
    write(sending, request);
    return reception.answer;
  };
  const close = async () => {
    for (const reception of underWay) reception.cancel('the client was closed');
    await doors.close();
  };
  return { send, close };
}

interface Door {
  readonly request: typeof plainRequest;
  readonly agent: PlainAgent;
}

/** One agent for http, and one for https, which is loaded only where it is needed. */
class Doors {
  readonly #options: { readonly keepAlive: true; readonly lookup: ReturnType<typeof guardedLookup> };
  readonly #open = new Map<string, Promise<Door>>();

  constructor(options: ClientOptions) {
    this.#options = { keepAlive: true, lookup: guardedLookup(options) };
  }

  to({ protocol }: URL): Promise<Door> {
    const door = this.#open.get(protocol) ?? (protocol === 'https:' ? this.#secure() : this.#plain());
    this.#open.set(protocol, door);
    return door;
  }

  async close(): Promise<void> {
    for (const { agent } of await Promise.all(this.#open.values())) agent.destroy();
  }

  async #plain(): Promise<Door> {
    return { request: plainRequest, agent: new PlainAgent(this.#options) };
  }

  async #secure(): Promise<Door> {
    const { request, Agent } = await import('node:https');
    return { request, agent: new Agent(this.#options) };
  }
}

/** @throws TransportError `BAD_HEADER`. */
function open({ request: start, agent }: Door, url: URL, request: HttpRequest): ClientRequest {
  const { method } = request;
  const path = requestTarget(request.url, url);
  try {
    return start(url, { agent, method, path, headers: headersFor(request), maxHeaderSize: MAX_HEADER_BYTES });
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

function report(sending: ClientRequest, reception: Reception): void {
  reception.opened(() => sending.destroy());
  sending.once('socket', socket => {
    if (socket.connecting)
      socket.once('encrypted' in socket ? 'secureConnect' : 'connect', () => reception.connected());
    else reception.connected();
  });
  sending.on('error', error => reception.failed(error));
  sending.once('close', () => reception.failed(HUNG_UP)); // a 101 ends without a word; settled, it changes nothing
  sending.once('response', response => {
    reception.head(response.statusCode ?? 0, response.headers);
    response
      .on('data', chunk => reception.chunk(chunk))
      .once('end', () => reception.end())
      .on('error', error => reception.failed(error));
  });
}
