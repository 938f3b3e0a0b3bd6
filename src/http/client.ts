import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../system/clock.js';
import { errnoOf, messageOf, ProtocolCliError } from '../util/errors.js';
import { LIMITS } from '../util/limits.js';
import { bytesText } from '../util/text.js';
import { announcedLength, ByteGatherer, type ForeignHeaders, flatHeaders, isEncoded } from './body.js';

/**
 * How much of the response body to read: `nothing` resolves at the headers and drops the rest; `maxBytes` fails for a larger body, or
 * cuts it with `partial`. `withinMs` also cuts a body that takes longer or breaks off, for callers that mainly need the headers. An
 * encoded body fails unless `opaque` (it is only forwarded).
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

/**
 * The phase that a request reached: `address` (URL, DNS), `connect`, `send` (connected, no response yet) or `answer`. In the first two
 * the server has certainly not seen the request.
 */
type Phase = 'address' | 'connect' | 'send' | 'answer';

export class TransportError extends Error {
  override readonly name = 'TransportError';

  /**
   * @param code a system code (`ECONNREFUSED`, `ENOTFOUND`, `ECONNRESET`, …) or one of this client: `ETIMEDOUT`, `ABORTED`,
   * `TOO_LARGE`, `ENCODED`, `REFUSED_ADDRESS`, `BAD_URL`, `BAD_HEADER`, `PARSE`.
   */
  constructor(
    readonly phase: Phase,
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const SYNONYMS: Readonly<Record<string, string>> = {
  ERR_INVALID_CHAR: 'BAD_HEADER',
  ERR_INVALID_HTTP_TOKEN: 'BAD_HEADER',
  UND_ERR_INVALID_ARG: 'BAD_HEADER',
  UND_ERR_CONNECT_TIMEOUT: 'ETIMEDOUT',
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_HEADERS_OVERFLOW: 'PARSE',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'PARSE',
  UND_ERR_DESTROYED: 'ABORTED',
};

const NAME_PROBLEM = /^(?:ENOTFOUND|EAI_\w+)$/;

/** Converts a library's error to a {@link TransportError}. */
export function asTransportError(error: unknown, phase: Phase): TransportError {
  if (error instanceof TransportError) return error;
  const code = codeOf(error);
  return new TransportError(NAME_PROBLEM.test(code) ? 'address' : phase, code, messageOf(error), {
    cause: error,
  });
}

function codeOf(error: unknown): string {
  const code = errnoOf(error);
  const isParserError = error instanceof Error && error.name === 'HTTPParserError'; // undici sets no code on most of them
  if (code.startsWith('HPE_') || isParserError) return 'PARSE';
  return SYNONYMS[code] ?? (code || 'FAILED');
}

const DEFAULT_TIMEOUT_MS = 30_000;

const DRAIN_MS = 1_000;

const NOTHING = new Uint8Array(0);

type Limit = Exclude<ReadLimit, 'nothing'>;

/**
 * Reads the response to one request, for either library. The library passes on what arrives and closes the connection on request.
 * Settles once; the rest of the body is dropped, up to a limit.
 */
export class ResponseReader {
  readonly answer: Promise<HttpAnswer>;
  readonly #limitFor: Exclude<HttpRequest['read'], ReadLimit>;
  #read: ReadLimit = 'nothing';
  readonly #stopTimer: (() => void) | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #abort = () => this.#fail('ABORTED', 'the request was canceled');
  #resolve: (answer: HttpAnswer) => void = () => {};
  #reject: (error: TransportError) => void = () => {};
  #isSettled = false;
  #phase: Phase = 'connect';
  #head: Omit<HttpAnswer, 'body'> = { status: 0, headers: {} };
  #body: ByteGatherer | null = null;
  #toDrop = LIMITS.errorBytes.value;
  #patience: NodeJS.Timeout | undefined;
  #hangUp: (() => void) | undefined;

  constructor({ read, signal, timeoutMs = DEFAULT_TIMEOUT_MS }: HttpRequest, clock: Clock = systemClock) {
    this.#limitFor = typeof read === 'function' ? read : () => read;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    const late = () => this.#fail('ETIMEDOUT', `no answer within ${timeoutMs} ms`);
    this.#stopTimer = timeoutMs > 0 ? clock.after(timeoutMs, late) : undefined;
    this.#signal = signal;
    signal?.addEventListener('abort', this.#abort, { once: true });
    if (signal?.aborted) this.cancel('the request was canceled before it was sent');
  }

  /** Must be called once the request is open; it can be closed from then on. */
  opened(hangUp: () => void): void {
    this.#hangUp = hangUp;
    if (this.#isSettled) hangUp();
  }

  connected(): void {
    this.#phase = 'send';
  }

  head(status: number, foreign: ForeignHeaders): void {
    if (status < 200) return;
    this.#phase = 'answer';
    const headers = flatHeaders(foreign);
    const { 'set-cookie': cookies = [] } = foreign;
    this.#head = { status, headers, ...(cookies.length > 0 && { cookies: [cookies].flat() }) };
    this.#read = this.#limitFor(status, headers);
    if (this.#read === 'nothing') this.#leaveRest(headers);
    else this.#prepare(this.#read, headers);
  }

  chunk(bytes: Uint8Array): void {
    if (this.#isSettled || this.#read === 'nothing') this.#drop(bytes.length);
    else if (!this.#body?.add(bytes)) this.#overflow(this.#read);
  }

  end(): void {
    clearTimeout(this.#patience);
    this.#succeed();
  }

  failed(error: unknown): void {
    clearTimeout(this.#patience);
    if (this.#isHeadEnough()) this.#succeed();
    else if (this.#settle()) this.#reject(asTransportError(error, this.#phase));
  }

  /** Closes the connection, settled or not. */
  cancel(why: string): void {
    this.#fail('ABORTED', why);
    this.#hangUp?.();
  }

  #prepare(read: Limit, headers: Readonly<Record<string, string>>): void {
    const expected = announcedLength(headers);
    if (isEncoded(headers) && !read.opaque)
      this.#fail('ENCODED', 'the answer is encoded, though identity was asked for');
    else if (expected > read.maxBytes && !read.partial) this.#overflow(read);
    else this.#body = new ByteGatherer(read.maxBytes, expected);
    if (this.#body && read.withinMs !== undefined) this.#cutAfter(read.withinMs);
  }

  #cutAfter(ms: number): void {
    this.#patience = setTimeout(() => this.#leaveRest(this.#head.headers), ms);
  }

  #overflow({ maxBytes, partial }: Limit): void {
    if (!partial) this.#fail('TOO_LARGE', `the answer is larger than ${bytesText(maxBytes)}`);
    else if (this.#isHeadEnough()) this.#leaveRest(this.#head.headers);
    else this.#cut();
  }

  #cut(): void {
    this.#succeed();
    this.#hangUp?.();
  }

  /** Limits the dropped rest, so an endless response holds no memory and does not keep the process alive. */
  #leaveRest(headers: Readonly<Record<string, string>>): void {
    this.#succeed();
    if (announcedLength(headers) === 0) return;
    clearTimeout(this.#patience);
    this.#patience = setTimeout(() => this.#hangUp?.(), DRAIN_MS).unref();
  }

  #drop(length: number): void {
    this.#toDrop -= length;
    if (this.#toDrop < 0) this.#hangUp?.();
  }

  #succeed(): void {
    if (!this.#settle()) return;
    this.#resolve({ ...this.#head, body: this.#body?.bytes() ?? NOTHING });
  }

  #fail(code: string, message: string): void {
    if (this.#isHeadEnough()) this.#succeed();
    else if (this.#settle()) this.#reject(new TransportError(this.#phase, code, message));
    else return;
    this.#hangUp?.();
  }

  /** Whether the headers are enough to resolve, since the body is optional. */
  #isHeadEnough(): boolean {
    return this.#body !== null && this.#read !== 'nothing' && this.#read.withinMs !== undefined;
  }

  /** Returns true on the first call only. */
  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#stopTimer?.();
    this.#signal?.removeEventListener('abort', this.#abort);
    return true;
  }
}

/** Returns the headers to send; they forbid an encoded response (threats, row 16). */
export function headersFor({ headers = {}, body, pace }: HttpRequest): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const name of Object.keys(headers))
    if (name.toLowerCase() !== 'accept-encoding') sent[name] = headers[name] ?? '';
  sent['accept-encoding'] = 'identity';
  if (body && pace) sent['content-length'] = String(body.length);
  return sent;
}

/**
 * Converts a transport failure to an error message: what failed, where, and how to fix it.
 * @param peer the server that should listen there
 */
export function explainFailure(
  error: TransportError,
  url: string,
  peer: 'tool' | 'platform',
): ProtocolCliError {
  const isUnknownName = NAME_PROBLEM.test(error.code);
  if (error.phase === 'address' && !isUnknownName)
    return new ProtocolCliError('refused-address', `${url} was not called: ${error.message}`, {
      hint: 'Only http and https URLs without a user name are called, and never link-local or metadata addresses.',
      cause: error,
    });
  const hint = isUnknownName
    ? 'The host name does not resolve. Is it spelled correctly?'
    : hintOn(error, peer);
  const reason = error.code === 'EPROTO' ? 'the TLS handshake failed' : error.message;
  return new ProtocolCliError('unreachable', `${url}: ${reason}`, { hint, cause: error });
}

function hintOn({ code, phase }: TransportError, peer: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return `Nothing listens there. Is the ${peer} running, and is the port right?`;
    case 'BAD_PORT':
      return `Have the ${peer} listen on another port.`;
    case 'EPROTO':
      return 'The server does not speak TLS on this port. Try http:// instead of https://.';
    case 'ECONNRESET':
      return 'The connection was closed before an answer came. Does the server speak plain HTTP on this port?';
    case 'ETIMEDOUT':
      if (phase === 'connect')
        return `No answer came in time. Is something between here and the ${peer} dropping packets?`;
      return phase === 'answer'
        ? `The ${peer} began to answer but did not finish.`
        : `The ${peer} accepted the connection but did not answer.`;
    case 'PARSE':
      return 'What listens there does not speak HTTP, or not strictly. Is the port right?';
    case 'ENCODED':
      return 'The answer was compressed though identity was asked for. Switch compression off for this route.';
    default:
      return `Is the ${peer} running, and is this its address?`;
  }
}

const SECONDS = /^\d+$/;

/** RFC 9110, 5.6.7: the current format and the two obsolete ones, which have no time zone. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? .*\d\d:\d\d:\d\d(?: GMT| \d{4})$/;

/** Returns the `Retry-After` delay in ms (RFC 9110, 10.2.3); null if missing or invalid. */
export function retryAfterMs(value: string | undefined, now: Date): number | null {
  const text = value?.trim() ?? '';
  if (SECONDS.test(text)) return Number(text) * 1_000;
  if (!HTTP_DATE.test(text)) return null;
  const due = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(due) ? null : Math.max(0, due - now.getTime());
}

const STRICT = /^https?:\/\/[^/?#\\\0- ]+(?<written>[/?#][^\0- ]*)?$/i;

/** Matches what the URL parser does not expose: an empty query, and the fragment, which must be removed. */
const HIDDEN = /\?$|#/;

const NOT_ASCII = /[^!-~]+/g;

/**
 * Returns the request target exactly as the URL was written (TOOL-OPAQUE): nothing is resolved or re-encoded, an empty query is kept.
 * Only characters that a request line cannot contain are percent-encoded. An invalid URL is sent as the parser reads it.
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

/** Sends `bytes` of a body every `everyMs` milliseconds. */
interface Pace {
  readonly bytes: number;
  readonly everyMs: number;
}

/** The body to send: with a pace, in pieces. */
export function bodyOf({ body, pace }: HttpRequest): Readable | Uint8Array | null {
  return body && pace ? Readable.from(drip(body, pace)) : (body ?? null);
}

async function* drip(body: Uint8Array, { bytes, everyMs }: Pace): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < body.length; sent += bytes) {
    if (sent > 0) await sleep(everyMs);
    yield body.subarray(sent, sent + bytes);
  }
}
