import type { IncomingHttpHeaders } from 'node:http';
import { Agent, type Dispatcher } from 'undici';
import { LIMITS } from '../util/limits.js';
import { type ClientOptions, connectionOptions, destinationOf } from './addresses.js';
import type { HttpAnswer, HttpClient, HttpRequest } from './client.js';
import { bodyOf, headersFor, requestTarget } from './outgoing-request.js';
import { ResponseReader } from './response-reader.js';

const CONNECTIONS = 256;

/** Creates a client on undici's Agent, for throughput. Unlike `request`, `dispatch` reports which phase a request reached. */
export function createPooledClient(options: ClientOptions = {}): HttpClient {
  const agent = new Agent({
    connections: CONNECTIONS,
    pipelining: 1,
    maxHeaderSize: LIMITS.headerBytes.value,
    headersTimeout: 0, // the ResponseReader sets the deadline
    bodyTimeout: 0,
    connect: connectionOptions(options),
  });

  const dispatch = (request: HttpRequest): ResponseReader => {
    const url = destinationOf(request.url);
    const path = requestTarget(request.url, url);
    const reader = new ResponseReader(request, options.clock);
    const { method } = request;
    const body = bodyOf(request);
    agent.dispatch(
      { origin: url.origin, path, method, headers: headersFor(request), body },
      new ReaderHandler(reader),
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

/** Passes what undici reports on to a reader. */
class ReaderHandler implements Dispatcher.DispatchHandler {
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
