/**
 * How much of the response body to read. `nothing` resolves at the headers and drops the body. A body larger than `maxBytes` fails the
 * request, or is cut with `partial`. With `withinMs` the body is optional: whatever ends it (this time, a broken connection, an invalid
 * body) resolves with the part that arrived. An encoded body fails the request unless `opaque` (it is only forwarded).
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
  /** The path and query are sent exactly as written here. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  /** Sends the body slowly, in small pieces. Default: all at once. */
  readonly pace?: Pace;
  /** The limit, or a function that returns it for the response's status and headers. */
  readonly read: ReadLimit | ((status: number, headers: HttpAnswer['headers']) => ReadLimit);
  readonly signal?: AbortSignal;
  /** Time limit from the DNS lookup to the last byte. Default: 30,000 ms; 0 for no limit. */
  readonly timeoutMs?: number;
}

/** Sends `bytes` of a body every `everyMs` milliseconds. */
export interface Pace {
  readonly bytes: number;
  readonly everyMs: number;
}

export interface HttpAnswer {
  readonly status: number;
  /** Lower-case names; repeated headers are joined by a comma. */
  readonly headers: Readonly<Record<string, string>>;
  /** Each `Set-Cookie` header: a cookie may contain a comma, so joined ones cannot be separated again. */
  readonly cookies?: string[];
  readonly body: Uint8Array;
}

/** Sends a request once: no redirects, no decoding, no retries (threats, rows 9 to 11, 15 and 16). */
export interface HttpClient {
  /** @throws TransportError if no response arrived. */
  send(request: HttpRequest): Promise<HttpAnswer>;
  /** Closes every connection; open requests fail. */
  close(): Promise<void>;
}
