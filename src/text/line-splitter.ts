const LINE_FEED = 0x0a;

/** Cuts bytes into lines as they come. What has no line feed yet is kept, up to a limit. */
export class LineSplitter {
  #pieces: Uint8Array[] = [];
  #length = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly onLine: (line: Uint8Array) => void,
  ) {}

  /** @throws RangeError where a line is longer than the limit. */
  add(chunk: Uint8Array): void {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      this.#keep(chunk.subarray(from, end));
      this.onLine(this.#take());
      from = end + 1;
    }
    if (from < chunk.length) this.#keep(chunk.slice(from));
  }

  /** Bytes after the last line feed. */
  get rest(): number {
    return this.#length;
  }

  #keep(piece: Uint8Array): void {
    this.#length += piece.length;
    if (this.#length > this.maxBytes) throw new RangeError(`a line is longer than ${this.maxBytes} bytes`);
    this.#pieces.push(piece);
  }

  #take(): Uint8Array {
    const [only, ...more] = this.#pieces;
    const line = only && more.length === 0 ? only : Buffer.concat(this.#pieces);
    this.#pieces = [];
    this.#length = 0;
    return line;
  }
}
