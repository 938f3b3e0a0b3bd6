import { bytesText } from '../text/bytes-text.js';
import { announcedLength, ByteGatherer } from './byte-gatherer.js';
import { type HttpAnswer, type HttpRequest, type Phase, type ReadLimit, TransportError } from './client.js';
import { isEncoded } from './coding.js';
import { watchDeadline } from './deadline.js';
import { asTransportError } from './failure.js';

const DEFAULT_TIMEOUT_MS = 30_000;
const DRAIN_MS = 1_000;
const DRAIN_BYTES = 64 * 1024;
const NOTHING = new Uint8Array(0);

type Limit = Exclude<ReadLimit, 'nothing'>;
type ForeignHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * One request's answer as it arrives, whichever library carries it: that one tells what happens on the wire, and hangs up
 * when it is told to. Settles once; what comes after that is dropped, and little of it.
 */
export class Reception {
  readonly answer: Promise<HttpAnswer>;
  readonly #limitFor: Exclude<HttpRequest['read'], ReadLimit>;
  #read: ReadLimit = 'nothing';
  readonly #callOff: () => void;
  #resolve: (answer: HttpAnswer) => void = () => {};
  #reject: (error: TransportError) => void = () => {};
  #isSettled = false;
  #phase: Phase = 'connect';
  #head: Omit<HttpAnswer, 'body'> = { status: 0, headers: {} };
  #body: ByteGatherer | null = null;
  #toDrop = DRAIN_BYTES;
  #patience: NodeJS.Timeout | undefined;
  #hangUp: (() => void) | undefined;

  constructor({ read, signal, timeoutMs = DEFAULT_TIMEOUT_MS }: HttpRequest) {
    this.#limitFor = typeof read === 'function' ? read : () => read;
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#callOff = watchDeadline(timeoutMs, signal, (code, message) => this.#fail(code, message));
    if (signal?.aborted) this.cancel('the request was called off before it was sent');
  }

  /** From here on there is something to hang up. */
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
    const headers = flatten(foreign);
    this.#head = { status, headers };
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

  /** Hangs up, settled or not. */
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

  /** An answer that goes on for ever holds neither memory nor the process; where nothing follows, none can. */
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
    const { status, headers } = this.#head;
    this.#resolve({ status, headers, body: this.#body?.bytes() ?? NOTHING });
  }

  #fail(code: string, message: string): void {
    if (this.#isHeadEnough()) this.#succeed();
    else if (this.#settle()) this.#reject(new TransportError(this.#phase, code, message));
    else return;
    this.#hangUp?.();
  }

  /** Whether the body is only looked at: what becomes of it changes nothing. */
  #isHeadEnough(): boolean {
    return this.#body !== null && this.#read !== 'nothing' && this.#read.withinMs !== undefined;
  }

  /** True the first time. */
  #settle(): boolean {
    if (this.#isSettled) return false;
    this.#isSettled = true;
    this.#callOff();
    return true;
  }
}

function flatten(foreign: ForeignHeaders): Readonly<Record<string, string>> {
  if (isFlat(foreign)) return foreign;
  const headers: Record<string, string> = {};
  for (const name of Object.keys(foreign)) headers[name] = String(foreign[name] ?? '');
  return headers;
}

/** Nearly always: a header that comes several times is a list. */
function isFlat(foreign: ForeignHeaders): foreign is Readonly<Record<string, string>> {
  for (const name in foreign) if (typeof foreign[name] !== 'string') return false;
  return true;
}
