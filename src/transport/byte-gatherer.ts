const FIRST_CAPACITY = 16 * 1024;

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
