import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { Agent, type Dispatcher } from 'undici';
import type { HttpAnswer, HttpClient, HttpRequest } from './client.js';
import { destinationOf } from './destination.js';
import { type ClientOptions, guardedLookup } from './lookup.js';
import { drip } from './pace.js';
import { Reception } from './reception.js';
import { headersFor, MAX_HEADER_BYTES } from './request-headers.js';
import { requestTarget } from './request-target.js';

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
