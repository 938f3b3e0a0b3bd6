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

/** A request that no handler answered, told to whoever runs the server. Texts are foreign and not yet made visible. */
export interface Refusal {
  /** What was answered; 0 where nobody was left to answer. */
  readonly status: number;
  readonly reason: RefusalReason;
  readonly method?: string;
  readonly target?: string;
  readonly host?: string;
  /** One clause for a person. */
  readonly detail: string;
}

/** A decision not to serve a request. */
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
 * Gathers a body into one buffer, never over a limit (threats, row 15). With a known length nothing is copied twice;
 * without one the buffer doubles, so that a million tiny chunks cost no more than their bytes.
 */
export class ByteGatherer {
  readonly #limit: number;
  #buffer: Uint8Array;
  #length = 0;

  /** @param expected the announced length in bytes, NaN where there is none. */
  constructor(limit: number, expected: number) {
    this.#limit = limit;
    // Unsafe: what was not written is never given out. Small ones share their memory, which saves most of their cost.
    this.#buffer = Buffer.allocUnsafe(Math.min(Number.isNaN(expected) ? FIRST_CAPACITY : expected, limit));
  }

  /** Takes what fits under the limit; false where that was not all of it. */
  add(chunk: Uint8Array): boolean {
    const taken = Math.min(chunk.length, this.#limit - this.#length);
    this.#grow(this.#length + taken);
    this.#buffer.set(chunk.subarray(0, taken), this.#length);
    this.#length += taken;
    return taken === chunk.length;
  }

  /** What was gathered; the spare room is given back. */
  bytes(): Uint8Array {
    return this.#length === this.#buffer.length
      ? this.#buffer
      : Buffer.from(this.#buffer.subarray(0, this.#length));
  }

  /** Gives back all memory, whoever still holds the gatherer. */
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

/** The length a message announces, in bytes; NaN where it does not. */
export function announcedLength(headers: { readonly 'content-length'?: string | undefined }): number {
  return Number(headers['content-length'] ?? Number.NaN);
}

/** Of each body so many bytes are not counted, so that small ones are served beside the largest. */
const FREE = 64 * 1024;

/** What one request takes of the bytes that there are for all bodies that a server is reading or working on (threats, row 15). */
export class BodyShare {
  #size = 0;
  #counted = 0;

  constructor(private readonly budget: { bytes: number }) {}

  /** Whether there is room for so many bytes more. */
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

/** Reads a request's body as it comes, at most `maxBody` bytes of it. Never throws: a sender that gave up is a denial too. */
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
      gatherer.drop(); // its sender may go on for a while
      share.release();
      resolve(hasRoom ? bodyTooLarge(maxBody) : TOO_MANY);
    };
    request
      .on('data', take)
      .on('end', end)
      .on('error', () => resolve(new Denial(0, 'aborted', 'its sender went away in the middle of the body')));
  });
}

const TOO_MANY = new Denial(503, 'busy', 'the bodies of all requests are too large together', {
  'Retry-After': '1',
});

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0;
}

/** Lets a sender finish what nobody will read; settles at its end, or when it has had `bytes` or `ms` enough. */
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

/** Whether a body would have to be decoded before it could be read (threats, row 16). Chunks are framing, not encoding. */
export function isEncoded(headers: CodingHeaders): boolean {
  const content = headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const transfer = headers['transfer-encoding']?.trim().toLowerCase() ?? 'chunked';
  return content !== 'identity' || transfer !== 'chunked';
}

/** The code of a system or library error, as `ECONNRESET`; empty where it has none. */
export function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

const STRICT = /^https?:\/\/[^/?#\\\0- ]+(?<written>[/?#][^\0- ]*)?$/i;
/** What the parser has no word for: an empty query, and a fragment. */
const HIDDEN = /\?$|#/;
const NOT_ASCII = /[^!-~]+/g;

/**
 * The request target as the url was written (TOOL-OPAQUE): nothing resolved, nothing re-encoded, an empty query kept. Only what no
 * request line can carry is percent-encoded. A url that only a lenient parser understands is sent as that one reads it.
 * @param parsed the same url.
 */
export function requestTarget(url: string, parsed: URL): string {
  if (parsed.href === url && !HIDDEN.test(url)) return parsed.pathname + parsed.search;
  const strict = STRICT.exec(url);
  if (!strict) return parsed.pathname + parsed.search;
  const [written = ''] = strict.groups?.['written']?.split('#', 1) ?? [];
  const target = written.startsWith('/') ? written : `/${written}`;
  return target.replace(NOT_ASCII, characters => encodeURIComponent(characters.toWellFormed()));
}

/** How slowly a body is sent: `bytes` at a time, with a pause of `everyMs` after each. */
export interface Pace {
  readonly bytes: number;
  readonly everyMs: number;
}

/** The body in pieces, as they fall due. */
export async function* drip(body: Uint8Array, { bytes, everyMs }: Pace): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < body.length; sent += bytes) {
    if (sent > 0) await sleep(everyMs);
    yield body.subarray(sent, sent + bytes);
  }
}

/** A request that passed the guard, read to its end. */
export interface Incoming {
  readonly method: string;
  /** The raw path and query, as sent. */
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  /** The peer's address. */
  readonly remote: string;
  /** Calls back where the connection ends before it was answered; once, and not at all where it is. */
  readonly onGone?: (callback: () => void) => void;
}

/** What there is of a request before its body. */
export type Head = Pick<Incoming, 'method' | 'target' | 'headers'>;

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** In the place of `body`: a long one, of which each piece is made once the peer has read those before it. */
  readonly pieces?: Iterable<Uint8Array>;
  /** Called once the answer was handed to the connection, also where nobody reads it any more: what is to follow it begins here. */
  readonly sent?: () => void;
}

/** What a handler gives back; `'reset'` breaks the connection without an answer. */
export type Reply = Answer | 'reset';

export interface Route {
  readonly name: string;
  /** `any` for those that no route before takes. */
  readonly method: 'GET' | 'POST' | 'DELETE' | 'OPTIONS' | 'any';
  /** Asked with the path without the query; may do a constant-time lookup. */
  readonly serves: (path: string) => boolean;
  /**
   * `json` and `form` demand their `Content-Type`, `json?` only where there is a body; `anything` reads what there is; with `nothing` a
   * body is left unread.
   */
  readonly accepts: 'json' | 'json?' | 'form' | 'anything' | 'nothing';
  /** A page for people: a browser may visit it, by hand or from our own origin. Other routes refuse every browser. */
  readonly browsers?: 'same-origin';
  /** Pages of these origins may send requests. */
  readonly origins?: ReadonlySet<string>;
  /** Answers by the head alone, before anything is said of the body: of whoever is to learn nothing else. */
  readonly first?: (head: Head) => Answer | undefined;
  readonly handle: (incoming: Incoming) => Reply | Promise<Reply>;
}

/** What one peer may take of a server (threats, row 14). Times in milliseconds. */
export interface ServerLimits {
  /** Until the head of a request must be complete, a silent connection included. */
  readonly headersMs: number;
  /** Until the whole request must be complete; and how long a peer may take nothing of its answer. */
  readonly requestMs: number;
  readonly connections: number;
  /** Of the bodies of all requests that are being read or answered; the largest body that is allowed always fits. */
  readonly bodyBytes: number;
  /** Of the bodies of all answers that were sent and are not read yet. */
  readonly unreadBytes: number;
  readonly headerBytes: number;
  /** How often the two deadlines are looked at: they are late by at most this. */
  readonly checkEveryMs: number;
  /** How long a refused sender may go on before it is cut off. */
  readonly lingerMs: number;
  /** How long requests in progress may go on once the server closes. */
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

/** The part of the limits that node:http wants at construction. */
export function parserOptions(limits: ServerLimits): ServerOptions {
  return {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    connectionsCheckingInterval: limits.checkEveryMs,
    maxHeaderSize: limits.headerBytes,
    insecureHTTPParser: false,
    requireHostHeader: false, // the guard judges Host itself, and says what was wrong
  };
}
