const LINE_FEED = 0x0a;

/** Cuts bytes into lines as they come. What has no line feed yet is kept; of a line that is longer than allowed nothing is. */
export class LineSplitter {
  #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly onLine: (line: Uint8Array) => void,
  ) {}

  /** @returns false where a line is too long: what comes after it is not looked at. */
  add(chunk: Uint8Array): boolean {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      if (!this.#keep(chunk.subarray(from, end))) return false;
      this.onLine(this.#take());
      from = end + 1;
    }
    return this.#keep(chunk.subarray(from));
  }

  /** Bytes after the last line feed. */
  get rest(): number {
    return this.#length;
  }

  #keep(piece: Uint8Array): boolean {
    this.#length += piece.length;
    if (piece.length > 0) this.#pieces.push(piece);
    const fits = this.#length <= this.maxBytes;
    if (!fits) this.#drop();
    return fits;
  }

  #take(): Uint8Array {
    const [only, ...more] = this.#pieces;
    const line = only && more.length === 0 ? only : Buffer.concat(this.#pieces);
    this.#drop();
    return line;
  }

  #drop(): void {
    this.#pieces = [];
    this.#length = 0;
  }
}
