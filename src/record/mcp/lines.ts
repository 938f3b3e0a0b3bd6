import { readJson } from '../../util/json.js';
import { bytesText, excerpt, LineSplitter } from '../../util/text.js';
import type { Headers, McpConnection, McpObserver, Side } from './observer.js';

const LINE_FEED = 0x0a;

/** What a reader is part of. */
export interface Surroundings {
  readonly observer: McpObserver;
  readonly connection: McpConnection;
  /** The longest message that is read, in bytes. */
  readonly maxBytes: number;
}

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

/** Reads the lines of one direction, each a message. What cannot be read is a warning. */
export class ObservedLines {
  readonly #lines: BoundedLines;

  constructor(
    private readonly from: Side,
    private readonly around: Surroundings,
  ) {
    const { maxBytes } = around;
    this.#lines = new BoundedLines(maxBytes, this.#read, () => warnOfLength(from, around));
  }

  readonly add = (chunk: Uint8Array): void => this.#lines.add(chunk);

  end(): void {
    if (this.#lines.isWithinLine)
      this.around.observer.warn(`${nameOf(this.from)} ended within a line, which is not a message`);
  }

  readonly #read = (line: Uint8Array): void => {
    if (line.some(byte => byte > 0x20)) readMessage(line, this.from, this.around);
  };
}

/**
 * Reads a message of JSON-RPC, or a batch; anything else is a warning.
 * @param headers of a request over HTTP
 * @returns its JSON; undefined if it has none
 */
export function readMessage(
  bytes: Uint8Array,
  from: Side,
  { observer, connection }: Surroundings,
  headers?: Headers,
): unknown {
  const json = readJson(bytes);
  const value = json.ok ? json.value : undefined;
  if (connection.sees(value, from, headers)) return value;
  const start = Buffer.from(bytes.subarray(0, 2_000)).toString('utf8');
  observer.warn(`${nameOf(from)} sent what is not a message of JSON-RPC: ${excerpt(start)}`);
  return value;
}

export function warnOfLength(from: Side, { observer, maxBytes }: Surroundings): void {
  observer.warn(`${nameOf(from)} sent more than ${bytesText(maxBytes)} at once, which is not recorded`);
}

function nameOf(side: Side): string {
  return side === 'client' ? 'the client' : 'the server';
}
