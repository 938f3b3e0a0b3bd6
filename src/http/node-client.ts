import { createHmac, randomBytes } from 'node:crypto';
import type { ClientRequest } from 'node:http';
import { Readable } from 'node:stream';
import { RecentMap } from '../util/json-diagnosis.js';
import { type ClientOptions, destinationOf, guardedLookup } from './addresses.js';
import {
  asTransportError,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  headersFor,
  MAX_HEADER_BYTES,
  Reception,
} from './client.js';
import { drip, requestTarget } from './request-body.js';

// On Node 22 and later, importing node:http as an ES module loads all of undici.
const { Agent: PlainAgent, request: plainRequest } = process.getBuiltinModule('node:http');

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
  readonly agent: InstanceType<typeof PlainAgent>;
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

const TOKEN_BYTES = 32;

/**
 * Unguessable paths, each of which stands for something (threats, rows 1 and 7). A path is looked up by its keyed digest, so
 * that the time a lookup takes says nothing about the tokens there are.
 */
export class SecretPaths<T> {
  readonly #secret = randomBytes(TOKEN_BYTES);
  readonly #meanings: RecentMap<string, T>;

  /**
   * @param prefix of every path, such as `/callback/`.
   * @param most so many are remembered at least; all unless told, for whoever forgets them himself.
   */
  constructor(
    private readonly prefix: string,
    most = Number.POSITIVE_INFINITY,
  ) {
    this.#meanings = new RecentMap(most);
  }

  /** A fresh path with a 256-bit token; it stands for `meaning` until it is forgotten. */
  issue(meaning: T): { readonly token: string; readonly path: string } {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    const path = this.prefix + token;
    this.#meanings.set(this.#digest(path), meaning);
    return { token, path };
  }

  /** What a path stands for, or nothing. */
  resolve(path: string): T | undefined {
    return path.startsWith(this.prefix) ? this.#meanings.get(this.#digest(path)) : undefined;
  }

  forget(path: string): void {
    this.#meanings.delete(this.#digest(path));
  }

  #digest(path: string): string {
    return createHmac('sha256', this.#secret).update(path).digest('base64');
  }
}
