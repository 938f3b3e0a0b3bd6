import type { IncomingMessage } from 'node:http';
import { bytesText } from '../util/text.js';
import { Denial } from './route.js';

export function bodyTooLarge(maxBody: number): Denial {
  return new Denial(413, 'too-large', `its body is larger than ${bytesText(maxBody)}`);
}

const FIRST_CAPACITY = 16 * 1024;

const EMPTY = new Uint8Array();

/**
 * Collects a body in one buffer, up to a limit (threats, row 15). If the length is known, nothing is copied twice; otherwise the
 * buffer doubles, so a million tiny chunks cost no more than their bytes.
 */
export class ByteGatherer {
  readonly #limit: number;
  #buffer: Uint8Array;
  #length = 0;

  /** @param expected the announced length in bytes; NaN if unknown. */
  constructor(limit: number, expected: number) {
    this.#limit = limit;
    // allocUnsafe is safe here: only written bytes are returned. Small buffers share memory, which saves most of their cost.
    this.#buffer = Buffer.allocUnsafe(Math.min(Number.isNaN(expected) ? FIRST_CAPACITY : expected, limit));
  }

  /** Adds as much as the limit allows; returns false if the chunk was cut. */
  add(chunk: Uint8Array): boolean {
    const taken = Math.min(chunk.length, this.#limit - this.#length);
    this.#grow(this.#length + taken);
    this.#buffer.set(chunk.subarray(0, taken), this.#length);
    this.#length += taken;
    return taken === chunk.length;
  }

  /** Returns the collected bytes and releases spare memory. */
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

/** Returns the `Content-Length` in bytes; NaN if missing. */
export function announcedLength(headers: { readonly 'content-length'?: string | undefined }): number {
  return Number(headers['content-length'] ?? Number.NaN);
}

/** The first bytes of each body do not count, so small requests are served while large ones use up the budget. */
const FREE = 64 * 1024;

/** One request's share of the server's budget for bodies in flight (threats, row 15). */
export class BodyShare {
  #size = 0;
  #counted = 0;

  constructor(private readonly budget: { bytes: number }) {}

  /** Takes more bytes; returns false if the budget is used up. */
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

/** Reads at most `maxBody` bytes of a request's body. Never throws: an aborted request also resolves to a denial. */
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
