import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type Dispatcher, fetch as undiciFetch } from 'undici';
import { LIMITS } from '../util/limits.js';
import { bytesText } from '../util/text.js';
import { type ClientOptions, destinationOf, guardedLookup } from './addresses.js';
import {
  asTransportError,
  bodyOf,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  headersFor,
  ResponseReader,
  requestTarget,
  TransportError,
} from './client.js';

interface GuardedFetchOptions extends ClientOptions {
  readonly maxBytes: number;
}

interface GuardedFetch {
  /** @throws TransportError if no response arrived. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  close(): Promise<void>;
}

/** Creates a `fetch` with the guards of the clients here (threats, rows 9 to 11 and 15). Does not follow redirects. */
export function guardedFetch({ maxBytes, ...options }: GuardedFetchOptions): GuardedFetch {
  const agent = new Agent({
    maxHeaderSize: LIMITS.headerBytes.value,
    headersTimeout: 0, // the caller sets the deadline
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
    return new Response(answer.body?.pipeThrough(bounded(maxBytes)) ?? null, {
      status,
      statusText,
      headers: [...headers],
    });
  };
  return { fetch, close: () => agent.destroy() };
}

/** undici's message for ports that fetch blocks. */
const BLOCKED = 'bad port';

/** undici puts the real error into the cause of a TypeError; an AbortError is passed on. */
function failed(error: unknown): never {
  if (!(error instanceof TypeError)) throw error;
  const { cause = error } = error;
  if (cause instanceof Error && cause.message === BLOCKED)
    throw new TransportError(
      'connect',
      'BAD_PORT',
      'its port belongs to another protocol, and fetch blocks it',
    );
  throw asTransportError(cause, 'connect');
}

function bounded(maxBytes: number): TransformStream<Uint8Array, Uint8Array> {
  let left = maxBytes;
  return new TransformStream({
    transform(chunk, controller) {
      left -= chunk.length;
      if (left >= 0) controller.enqueue(chunk);
      else
        controller.error(
          new TransportError('answer', 'TOO_LARGE', `the answer is larger than ${bytesText(maxBytes)}`),
        );
    },
  });
}

const CONNECTIONS = 256;

/** Creates a client on undici's Agent, for throughput. Unlike `request`, `dispatch` reports which phase a request reached. */
export function createAgentClient(options: ClientOptions = {}): HttpClient {
  const agent = new Agent({
    connections: CONNECTIONS,
    pipelining: 1,
    maxHeaderSize: LIMITS.headerBytes.value,
    headersTimeout: 0, // the ResponseReader sets the deadline
    bodyTimeout: 0,
    connect: { lookup: guardedLookup(options) },
  });

  const dispatch = (request: HttpRequest): ResponseReader => {
    const url = destinationOf(request.url);
    const path = requestTarget(request.url, url);
    const reader = new ResponseReader(request, options.clock);
    const { method } = request;
    const body = bodyOf(request);
    agent.dispatch(
      { origin: url.origin, path, method, headers: headersFor(request), body },
      new Report(reader),
    );
    return reader;
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

class Report implements Dispatcher.DispatchHandler {
  constructor(private readonly reader: ResponseReader) {}

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.reader.connected();
    this.reader.opened(() => controller.abort(new Error('canceled')));
  }

  onResponseStart(_: unknown, status: number, headers: IncomingHttpHeaders): void {
    this.reader.head(status, headers);
  }

  onResponseData(_: unknown, chunk: Uint8Array): void {
    this.reader.chunk(chunk);
  }

  onResponseEnd(): void {
    this.reader.end();
  }

  onResponseError(_: unknown, error: Error): void {
    this.reader.failed(error);
  }
}
