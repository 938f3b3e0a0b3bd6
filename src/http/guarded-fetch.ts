import { Agent, fetch as undiciFetch } from 'undici';
import { LIMITS } from '../util/limits.js';
import { bytesText } from '../util/text.js';
import { valueAt } from '../util/values.js';
import { type ClientOptions, connectionOptions, destinationOf } from './addresses.js';
import { asTransportError, TransportError } from './transport-error.js';

export interface GuardedFetchOptions extends ClientOptions {
  readonly maxBytes: number;
}

export interface GuardedFetch {
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
    connect: connectionOptions(options),
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
  throw asTransportError(cause, isOfConnected(cause) ? 'send' : 'connect');
}

/** Whether only a connection that was open fails like this; undici does not say how far a request came. */
function isOfConnected(cause: unknown): boolean {
  const code = valueAt(cause, 'code');
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE';
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
