import type { IncomingHttpHeaders, IncomingMessage, ServerOptions } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { bytesText } from '../util/json-diagnosis.js';

type RefusalReason =
  | 'host'
  | 'browser'
  | 'no-route'
  | 'method'
  | 'media-type'
  | 'encoding'
  | 'too-large'
  | 'malformed'
  | 'slow'
  | 'busy'
  | 'aborted'
  | 'failed';

/** A request that no handler answered. Its texts are foreign and not yet made visible. */
export interface Refusal {
  /** The status sent; 0 if the peer was gone. */
  readonly status: number;
  readonly reason: RefusalReason;
  readonly method?: string;
  readonly target?: string;
  readonly host?: string;
  /** The reason, one clause. */
  readonly detail: string;
}

/** The decision not to serve a request. */
export class Denial {
  constructor(
    readonly status: number,
    readonly reason: RefusalReason,
    readonly detail: string,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}
}

export function bodyTooLarge(maxBody: number): Denial {
  return new Denial(413, 'too-large', `its body is larger than ${bytesText(maxBody)}`);
}

const FIRST_CAPACITY = 16 * 1024;
const EMPTY = new Uint8Array();

/**
 * Collects a body in one buffer, up to a limit (threats, row 15). With a known length nothing is copied twice; otherwise the
 * buffer doubles, so that a million tiny chunks cost no more than their bytes.
 */
export class ByteGatherer {
  readonly #limit: number;
  #buffer: Uint8Array;
  #length = 0;

  /** @param expected the announced length in bytes; NaN if unknown. */
  constructor(limit: number, expected: number) {
    this.#limit = limit;
    // Unsafe is fine: only written bytes are returned. Small buffers share memory, which saves most of their cost.
    this.#buffer = Buffer.allocUnsafe(Math.min(Number.isNaN(expected) ? FIRST_CAPACITY : expected, limit));
  }

  /** Adds what fits under the limit; false if that was not everything. */
  add(chunk: Uint8Array): boolean {
    const taken = Math.min(chunk.length, this.#limit - this.#length);
    this.#grow(this.#length + taken);
    this.#buffer.set(chunk.subarray(0, taken), this.#length);
    this.#length += taken;
    return taken === chunk.length;
  }

  /** The collected bytes; spare memory is released. */
  bytes(): Uint8Array {
    return this.#length === this.#buffer.length
      ? this.#buffer
      : Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  /** Releases all memory, even while the gatherer is still referenced. */
  drop(): void {
    this.#buffer = EMPTY;
    this.#length = 0;
  }

  #grow(needed: number): void {
    if (needed <= this.#buffer.length) return;
    const larger = new Uint8Array(Math.min(Math.max(needed, 2 * this.#buffer.length), this.#limit));
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}

/** The `Content-Length` in bytes; NaN if missing. */
export function announcedLength(headers: { readonly 'content-length'?: string | undefined }): number {
  return Number(headers['content-length'] ?? Number.NaN);
}

/** The first bytes of each body are free, so that small requests are served beside the largest. */
const FREE = 64 * 1024;

/** One request's share of the server's budget for bodies in flight (threats, row 15). */
export class BodyShare {
  #size = 0;
  #counted = 0;

  constructor(private readonly budget: { bytes: number }) {}

  /** Takes more bytes; false if the budget is used up. */
  take(bytes: number): boolean {
    this.#size += bytes;
    const more = Math.max(0, this.#size - FREE) - this.#counted;
    if (more > this.budget.bytes) return false;
    this.#counted += more;
    this.budget.bytes -= more;
    return true;
  }

  release(): void {
    this.budget.bytes += this.#counted;
    this.#counted = 0;
  }
}

/** Reads at most `maxBody` bytes of a request's body. Never throws: an aborted request is a denial too. */
export function readBody(
  request: IncomingMessage,
  maxBody: number,
  share: BodyShare,
): Promise<Uint8Array | Denial> {
  return new Promise(resolve => {
    const gatherer = new ByteGatherer(maxBody, announcedLength(request.headers));
    const end = () => resolve(gatherer.bytes());
    const take = (chunk: Uint8Array) => {
      const hasRoom = share.take(chunk.length);
      if (hasRoom && gatherer.add(chunk)) return;
      request.off('data', take).off('end', end).pause();
      gatherer.drop(); // the sender may continue for a while
      share.release();
      resolve(hasRoom ? bodyTooLarge(maxBody) : TOO_MANY);
    };
    request
      .on('data', take)
      .on('end', end)
      .on('error', () =>
        resolve(new Denial(0, 'aborted', 'the sender disconnected in the middle of the body')),
      );
  });
}

const TOO_MANY = new Denial(503, 'busy', 'the bodies of all requests are too large together', {
  'Retry-After': '1',
});

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0;
}

/** Reads and drops the rest of a request; resolves at its end, or after `bytes` or `ms`. */
export function drain(request: IncomingMessage, { bytes, ms }: { bytes: number; ms: number }): Promise<void> {
  return new Promise(resolve => {
    const settle = () => {
      clearTimeout(timer);
      request.off('data', drop).pause();
      resolve();
    };
    let left = bytes;
    const drop = (chunk: Uint8Array) => {
      left -= chunk.length;
      if (left < 0) settle();
    };
    const timer = setTimeout(settle, ms);
    request.on('data', drop).once('close', settle).once('error', settle);
  });
}

interface CodingHeaders {
  readonly 'content-encoding'?: string | undefined;
  readonly 'transfer-encoding'?: string | undefined;
}

/** Whether a body is compressed or otherwise encoded (threats, row 16). Chunked transfer is framing, not encoding. */
export function isEncoded(headers: CodingHeaders): boolean {
  const content = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const transfer = headers['transfer-encoding']?.trim().toLowerCase() ?? 'chunked';
  return content !== 'identity' || transfer !== 'chunked';
}

const STRICT = /^https?:\/\/[^/?#\\\0- ]+(?<written>[/?#][^\0- ]*)?$/i;
/** The URL parser does not report an empty query, and a fragment must go. */
const HIDDEN = /\?$|#/;
const NOT_ASCII = /[^!-~]+/g;

/**
 * The request target exactly as the URL was written (TOOL-OPAQUE): nothing resolved or re-encoded, an empty query kept. Only
 * characters that a request line cannot carry are percent-encoded. A URL that is not strict is sent as the parser reads it.
 * @param parsed the same URL.
 */
export function requestTarget(url: string, parsed: URL): string {
  if (parsed.href === url && !HIDDEN.test(url)) return parsed.pathname + parsed.search;
  const strict = STRICT.exec(url);
  if (!strict) return parsed.pathname + parsed.search;
  const [written = ''] = strict.groups?.['written']?.split('#', 1) ?? [];
  const target = written.startsWith('/') ? written : `/${written}`;
  return target.replace(NOT_ASCII, characters => encodeURIComponent(characters.toWellFormed()));
}

/** Sends a body slowly: `bytes` at a time, with a pause of `everyMs` between. */
export interface Pace {
  readonly bytes: number;
  readonly everyMs: number;
}

/** The body in pieces, with the pauses. */
export async function* drip(body: Uint8Array, { bytes, everyMs }: Pace): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < body.length; sent += bytes) {
    if (sent > 0) await sleep(everyMs);
    yield body.subarray(sent, sent + bytes);
  }
}

/** A request that passed the guard, completely read. */
export interface Incoming {
  readonly method: string;
  /** The raw path and query, as sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  /** The peer's address. */
  readonly remote: string;
  /** Calls back once if the connection closes before the answer is sent. */
  readonly onGone?: (callback: () => void) => void;
}

/** A request before its body is read. */
export type Head = Pick<Incoming, 'method' | 'target' | 'headers'>;

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Instead of `body`: pieces that are produced as fast as the peer reads. */
  readonly pieces?: Iterable<Uint8Array>;
  /** Called when the answer was written, also if the peer is gone: work that must follow the answer starts here. */
  readonly sent?: () => void;
}

/** A handler's answer; `'reset'` resets the connection instead. */
export type Reply = Answer | 'reset';

export interface Route {
  readonly name: string;
  /** `any`: all methods that no earlier route takes. */
  readonly method: 'GET' | 'POST' | 'DELETE' | 'OPTIONS' | 'any';
  /** Gets the path without the query. */
  readonly serves: (path: string) => boolean;
  /**
   * `json` and `form` require their `Content-Type`, `json?` only with a body; `anything` reads any body; `nothing` leaves it unread.
   */
  readonly accepts: 'json' | 'json?' | 'form' | 'anything' | 'nothing';
  /** A page that browsers may open, directly or from our own origin. Other routes refuse browsers. */
  readonly browsers?: 'same-origin';
  /** Web pages of these origins may send requests. */
  readonly origins?: ReadonlySet<string>;
  /** Answers from the head alone, before the body is judged. */
  readonly first?: (head: Head) => Answer | undefined;
  readonly handle: (incoming: Incoming) => Reply | Promise<Reply>;
}

/** Limits of a server (threats, row 14). Times in milliseconds. */
export interface ServerLimits {
  /** Time for the head of a request, also on a silent connection. */
  readonly headersMs: number;
  /** Time for a whole request, and for a peer that reads nothing of its answer. */
  readonly requestMs: number;
  readonly connections: number;
  /** Budget for the bodies of all requests in flight; the largest allowed body always fits. */
  readonly bodyBytes: number;
  /** Budget for all answers that were written and not read yet. */
  readonly unreadBytes: number;
  readonly headerBytes: number;
  /** How often deadlines are checked. */
  readonly checkEveryMs: number;
  /** How long a refused sender may continue before its connection is closed. */
  readonly lingerMs: number;
  /** How long open requests may continue when the server closes. */
  readonly closeMs: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_LIMITS: ServerLimits = {
  headersMs: 5_000,
  requestMs: 15_000,
  connections: 256,
  bodyBytes: 128 * MIB,
  unreadBytes: 128 * MIB,
  headerBytes: 16 * 1024,
  checkEveryMs: 500,
  lingerMs: 1_000,
  closeMs: 500,
};

/** The limits that node:http takes at construction. */
export function parserOptions(limits: ServerLimits): ServerOptions {
  return {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    maxHeaderSize: limits.headerBytes,
    insecureHTTPParser: false,
    requireHostHeader: false, // the guard checks Host and reports the reason
  };
}
