import { Agent, type Dispatcher } from 'undici';
import type { HttpAnswer, HttpClient, HttpRequest } from './client.js';
import { destinationOf } from './destination.js';
import { type ClientOptions, guardedLookup } from './lookup.js';
import { Reception } from './reception.js';
import { headersFor, MAX_HEADER_BYTES } from './request-headers.js';

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

  const send = async (request: HttpRequest): Promise<HttpAnswer> => {
    const { origin, pathname, search } = destinationOf(request.url);
    const reception = new Reception(request);
    const { method, body = null } = request;
    agent.dispatch(
      { origin, path: pathname + search, method, headers: headersFor(request), body },
      report(reception),
    );
    return reception.answer;
  };
  return { send, close: () => agent.destroy() };
}

function report(reception: Reception): Dispatcher.DispatchHandler {
  return {
    onRequestStart(controller) {
      reception.connected();
      reception.opened(() => controller.abort(new Error('not wanted any more')));
    },
    onResponseStart: (_, status, headers) => reception.head(status, headers),
    onResponseData: (_, chunk) => reception.chunk(chunk),
    onResponseEnd: () => reception.end(),
    onResponseError: (_, error) => reception.failed(error),
  };
}
