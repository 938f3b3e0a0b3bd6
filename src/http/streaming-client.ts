import type { Readable } from 'node:stream';
import { Agent } from 'undici';
import { LIMITS } from '../util/limits.js';
import { connectionOptions, destinationOf } from './addresses.js';
import { flatHeaders } from './body.js';
import { requestTarget } from './outgoing-request.js';
import { asTransportError } from './transport-error.js';

interface StreamedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal: AbortSignal;
}

/** The head of a response, and its body while it arrives. */
export interface StreamedAnswer {
  readonly status: number;
  /** Lower-case names; repeated headers are joined by a comma, but for cookies. */
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  /** Must be read or destroyed. Not decoded. */
  readonly body: Readable;
}

export interface StreamingClient {
  /** @throws TransportError without a response; the reason of the signal. */
  send(request: StreamedRequest): Promise<StreamedAnswer>;
  close(): Promise<void>;
}

/** A client for answers that are passed on while they arrive, without limits of time and size. Follows no redirects. */
export function createStreamingClient(): StreamingClient {
  const agent = new Agent({
    maxHeaderSize: LIMITS.headerBytes.value,
    headersTimeout: 0, // the sender has its own timeout
    bodyTimeout: 0,
    connect: connectionOptions({}),
  });
  return {
    async send({ url, method, headers, body = null, signal }) {
      const destination = destinationOf(url);
      const request = { origin: destination.origin, path: requestTarget(url, destination) };
      const answer = await agent
        .request({ ...request, method, headers: { ...headers }, body, signal })
        .catch((error: Error) => {
          throw signal.aborted ? error : asTransportError(error, 'connect');
        });
      const { 'set-cookie': cookies = [], ...others } = answer.headers;
      const status = answer.statusCode;
      return { status, headers: flatHeaders(others), cookies: [cookies].flat(), body: answer.body };
    },
    close: () => agent.destroy(),
  };
}
