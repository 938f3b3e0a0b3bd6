import type { Pace } from './pace.js';

/**
 * How much of an answer's body to read: nothing (settled at the headers; the rest is dropped, within bounds),
 * or at most `maxBytes`, beyond which it fails, or with `partial` is cut; with `withinMs`, also that long after the headers,
 * or where it breaks off: it is the headers that count. An encoded one fails, unless it is `opaque`: only passed on.
 */
export type ReadLimit =
  | 'nothing'
  | {
      readonly maxBytes: number;
      readonly partial?: boolean;
      readonly withinMs?: number;
      readonly opaque?: boolean;
    };

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  /** Its path and query are sent as they are written here. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Sends the body in small pieces; all at once unless told. */
  readonly pace?: Pace;
  /** The limit, or how it follows from the head of the answer. */
  readonly read: ReadLimit | ((status: number, headers: HttpAnswer['headers']) => ReadLimit);
  readonly signal?: AbortSignal;
  /** For all of it, from the name's lookup to the last byte read. 30,000 ms unless told, 0 for no limit. */
  readonly timeoutMs?: number;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case; repeated ones joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Sends one request, once: no redirect is followed, nothing is decoded, nothing is retried (threats, rows 9 to 11, 15 and 16). */
export interface HttpClient {
  /** @throws TransportError wherever there is no answer to give. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Drops every connection, and fails what is still under way. */
  close(): Promise<void>;
}

/**
 * How far a request came: `address` (its url, its name), `connect`, `send` (connected, no answer yet) or `answer`.
 * In the first two the peer has certainly not seen it.
 */
export type Phase = 'address' | 'connect' | 'send' | 'answer';

export class TransportError extends Error {
  override readonly name = 'TransportError';

  /** @param code a system code (`ECONNREFUSED`, `ENOTFOUND`, `ECONNRESET`, …) or ours: `ETIMEDOUT`, `ABORTED`, `TOO_LARGE`, `ENCODED`, `REFUSED_ADDRESS`, `BAD_URL`, `BAD_HEADER`, `PARSE`. */
  constructor(
    readonly phase: Phase,
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
