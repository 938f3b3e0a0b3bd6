const LINE_FEED = 0x0a;

/** Bytes as they come, cut into lines; of a line that is longer than allowed nothing is kept. */
export class LineGatherer {
  #pieces: Uint8Array[] = [];
  #size = 0;

  constructor(
    private readonly maxBytes: number,
    private readonly onLine: (line: Uint8Array) => void,
  ) {}

  /** @returns false where a line is too long. */
  add(chunk: Uint8Array): boolean {
    let from = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, from)) {
      if (!this.#keep(chunk.subarray(from, end))) return false;
      this.onLine(Buffer.concat(this.#pieces));
      this.#drop();
      from = end + 1;
    }
    return this.#keep(chunk.subarray(from));
  }

  #keep(piece: Uint8Array): boolean {
    this.#size += piece.length;
    if (this.#size > this.maxBytes) {
      this.#drop();
      return false;
    }
    if (piece.length > 0) this.#pieces.push(piece);
    return true;
  }

  #drop(): void {
    this.#pieces = [];
    this.#size = 0;
  }
}
