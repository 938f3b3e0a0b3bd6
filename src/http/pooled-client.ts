import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { Agent, type Dispatcher, fetch as undiciFetch } from 'undici';
import { bytesText } from '../util/json-diagnosis.js';
import { type ClientOptions, destinationOf, guardedLookup } from './addresses.js';
import {
  asTransportError,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  headersFor,
  MAX_HEADER_BYTES,
  Reception,
  TransportError,
} from './client.js';
import { drip, requestTarget } from './request-body.js';

interface GuardedFetchOptions extends ClientOptions {
  /** Of one answer's body; a stream that goes on for longer breaks. */
  readonly maxBytes: number;
}

interface GuardedFetch {
  /** @throws TransportError wherever there is no answer to give. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Drops every connection. */
  close(): Promise<void>;
}

/** `fetch` for a library that wants one, behind the same guards as our own clients (threats, rows 9 to 11 and 15): no redirect is followed. */
export function guardedFetch({ maxBytes, ...options }: GuardedFetchOptions): GuardedFetch {
  const agent = new Agent({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0, // whoever asks has a deadline
    bodyTimeout: 0,
    connect: { lookup: guardedLookup(options) },
  });
  const fetch: GuardedFetch['fetch'] = async (url, init = {}) => {
    const { method = 'GET', body, signal } = init;
    const answer = await undiciFetch(destinationOf(String(url)), {
      method,
      headers: [...new Headers(init.headers)],
      body: typeof body === 'string' ? body : null,
      signal: signal ?? null,
      redirect: 'manual',
      dispatcher: agent,
    }).catch(failed);
    const { status, statusText, headers } = answer;
    return new Response(answer.body && bounded(answer.body, maxBytes), {
      status,
      statusText,
      headers: [...headers],
    });
  };
  return { fetch, close: () => agent.destroy() };
}

/** Ports of other protocols, that no browser calls either. */
const BLOCKED = 'bad port';

/** undici puts what happened into the cause of a TypeError; an abort stays one. */
function failed(error: unknown): never {
  if (!(error instanceof TypeError)) throw error;
  const { cause = error } = error;
  if (cause instanceof Error && cause.message === BLOCKED)
    throw new TransportError(
      'connect',
      'BAD_PORT',
      'its port is blocked: fetch calls none that belongs to another protocol',
    );
  throw asTransportError(cause, 'connect');
}

function bounded(body: AsyncIterable<Uint8Array>, maxBytes: number): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  let left = maxBytes;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await chunks.next();
      if (done) return controller.close();
      left -= value.length;
      if (left >= 0) return controller.enqueue(value);
      await chunks.return?.();
      controller.error(
        new TransportError('answer', 'TOO_LARGE', `the answer is larger than ${bytesText(maxBytes)}`),
      );
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}

const CONNECTIONS = 256;

/** On undici's Agent, with connections kept open: for throughput. Its `dispatch` tells how far a request came; `request` does not. */
export function createAgentClient(options: ClientOptions = {}): HttpClient {
  const agent = new Agent({
    connections: CONNECTIONS,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: 0, // one deadline is enough, and it is the reception's
    bodyTimeout: 0,
    connect: { lookup: guardedLookup(options) },
  });

  const dispatch = (request: HttpRequest): Reception => {
    const url = destinationOf(request.url);
    const path = requestTarget(request.url, url);
    const reception = new Reception(request);
    const { method } = request;
    const body = bodyOf(request);
    agent.dispatch(
      { origin: url.origin, path, method, headers: headersFor(request), body },
      new Report(reception),
    );
    return reception;
  };
  return {
    send(request): Promise<HttpAnswer> {
      try {
        return dispatch(request).answer;
      } catch (error) {
        return Promise.reject(error);
      }
    },
    close: () => agent.destroy(),
  };
}

function bodyOf({ body, pace }: HttpRequest): Uint8Array | Readable | null {
  return body && pace ? Readable.from(drip(body, pace)) : (body ?? null);
}

/** Tells a reception what happens on the wire. */
class Report implements Dispatcher.DispatchHandler {
  constructor(private readonly reception: Reception) {}

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.reception.connected();
    this.reception.opened(() => controller.abort(new Error('not wanted any more')));
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    this.reception.head(status, headers);
  }

  onResponseData(_: unknown, chunk: Uint8Array): void {
    this.reception.chunk(chunk);
  }

  onResponseEnd(): void {
    this.reception.end();
  }

  onResponseError(_: unknown, error: Error): void {
    this.reception.failed(error);
  }
}
