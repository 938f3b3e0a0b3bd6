import { LineSplitter } from '../../util/text.js';
import type { MessageReader } from './message-reader.js';
import type { Side } from './observer.js';

const LINE_FEED = 0x0a;

/** Splits bytes into lines; a line that is too long is left out, and affects no other line. */
export class BoundedLines {
  readonly #lines: LineSplitter;
  /** Whether the rest of a line that is too long comes. */
  #isSkipping = false;

  constructor(
    maxBytes: number,
    onLine: (line: Uint8Array) => void,
    private readonly onTooLong: () => void,
  ) {
    this.#lines = new LineSplitter(maxBytes, onLine);
  }

  add(chunk: Uint8Array): void {
    for (let start = 0; start < chunk.length; ) {
      const feed = chunk.indexOf(LINE_FEED, start);
      const end = feed < 0 ? chunk.length : feed + 1;
      this.#addPiece(chunk.subarray(start, end), feed >= 0);
      start = end;
    }
  }

  /** Whether a line began that has no end yet. */
  get isWithinLine(): boolean {
    return this.#lines.rest > 0;
  }

  #addPiece(piece: Uint8Array, isEnd: boolean): void {
    if (!this.#isSkipping && this.#lines.add(piece)) return;
    if (!this.#isSkipping) this.onTooLong();
    this.#isSkipping = !isEnd;
  }
}

/** Reads the lines of one direction, each a message. */
export class ObservedLines {
  readonly #lines: BoundedLines;

  constructor(
    private readonly from: Side,
    private readonly messages: MessageReader,
  ) {
    this.#lines = new BoundedLines(messages.maxBytes, this.#read, () => messages.warnOfLength(from));
  }

  readonly add = (chunk: Uint8Array): void => this.#lines.add(chunk);

  end(): void {
    if (this.#lines.isWithinLine) this.messages.warnOfEndWithinLine(this.from);
  }

  readonly #read = (line: Uint8Array): void => {
    if (line.some(byte => byte > 0x20)) this.messages.read(line, this.from);
  };
}
