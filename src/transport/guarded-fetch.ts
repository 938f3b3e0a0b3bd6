import { Agent, fetch as undiciFetch } from 'undici';
import { bytesText } from '../text/bytes-text.js';
import { TransportError } from './client.js';
import { destinationOf } from './destination.js';
import { asTransportError } from './failure.js';
import { type ClientOptions, guardedLookup } from './lookup.js';
import { MAX_HEADER_BYTES } from './request-headers.js';

export interface GuardedFetchOptions extends ClientOptions {
  /** Of one answer's body; a stream that goes on for longer breaks. */
  readonly maxBytes: number;
}

export interface GuardedFetch {
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
