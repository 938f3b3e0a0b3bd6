import { type Clock, systemClock } from '../system/clock.js';
import { LIMITS } from '../util/limits.js';
import { bytesText } from '../util/text.js';
import { announcedLength, ByteGatherer, type ForeignHeaders, flatHeaders, isEncoded } from './body.js';
import type { HttpAnswer, HttpRequest, ReadLimit } from './client.js';
import { asTransportError, type Phase, TransportError } from './transport-error.js';

const DEFAULT_TIMEOUT_MS = 30_000;

/** How long the rest of a body may take that nobody reads. */
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
  /** Ends the reading of an optional body, then the connection that still sends a rest to be dropped. */
  #restTimer: NodeJS.Timeout | undefined;
  #closeConnection: (() => void) | undefined;

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
  opened(closeConnection: () => void): void {
    this.#closeConnection = closeConnection;
    if (this.#isSettled) closeConnection();
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
    clearTimeout(this.#restTimer);
    this.#succeed();
  }

  failed(error: unknown): void {
    clearTimeout(this.#restTimer);
    if (this.#isBodyOptional()) this.#succeed();
    else if (this.#settle()) this.#reject(asTransportError(error, this.#phase));
  }

  /** Closes the connection, settled or not. */
  cancel(why: string): void {
    this.#fail('ABORTED', why);
    this.#closeConnection?.();
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
    this.#restTimer = setTimeout(() => this.#leaveRest(this.#head.headers), ms);
  }

  #overflow({ maxBytes, partial }: Limit): void {
    if (!partial) this.#fail('TOO_LARGE', `the answer is larger than ${bytesText(maxBytes)}`);
    else if (this.#isBodyOptional()) this.#leaveRest(this.#head.headers);
    else this.#cut();
  }

  #cut(): void {
    this.#succeed();
    this.#closeConnection?.();
  }

  /** Limits the dropped rest, so an endless response holds no memory and does not keep the process alive. */
  #leaveRest(headers: Readonly<Record<string, string>>): void {
    this.#succeed();
    if (announcedLength(headers) === 0) return;
    clearTimeout(this.#restTimer);
    this.#restTimer = setTimeout(() => this.#closeConnection?.(), DRAIN_MS).unref();
  }

  #drop(length: number): void {
    this.#toDrop -= length;
    if (this.#toDrop < 0) this.#closeConnection?.();
  }

  #succeed(): void {
    if (!this.#settle()) return;
    this.#resolve({ ...this.#head, body: this.#body?.bytes() ?? NOTHING });
  }

  #fail(code: string, message: string): void {
    if (this.#isBodyOptional()) this.#succeed();
    else if (this.#settle()) this.#reject(new TransportError(this.#phase, code, message));
    else return;
    this.#closeConnection?.();
  }

  /** Whether the answer can be used without the whole body; false before the headers. */
  #isBodyOptional(): boolean {
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
