import type { IncomingMessage } from 'node:http';

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

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return 'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 0;
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

export type ForeignHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Flattens header lists. Returns the same object without any, because events keep a reference to it. */
export function flatHeaders(headers: ForeignHeaders): Readonly<Record<string, string>> {
  if (isFlat(headers)) return headers;
  return Object.fromEntries(Object.entries(headers).map(([name, value = '']) => [name, String(value)]));
}

/** Only repeated headers are lists. */
function isFlat(headers: ForeignHeaders): headers is Readonly<Record<string, string>> {
  for (const name in headers) if (typeof headers[name] !== 'string') return false;
  return true;
}
