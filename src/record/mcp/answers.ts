import { BoundedLines } from './lines.js';
import type { MessageReader } from './message-reader.js';

const DATA = Buffer.from('data:');

const LINE_FEED = Buffer.from('\n');

const CARRIAGE_RETURN = 0x0d;

/** Reads an answer over HTTP after it was passed on, piece by piece. */
export interface ObservedAnswer {
  add(chunk: Uint8Array): void;
  /** The answer is complete. */
  end(): void;
}

export const UNREAD: ObservedAnswer = { add() {}, end() {} };

/** Reads a whole answer at its end. */
export class WholeAnswer implements ObservedAnswer {
  #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(
    private readonly messages: MessageReader,
    private readonly onEnd: (bytes: Uint8Array) => void,
  ) {}

  add(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length <= this.messages.maxBytes) this.#chunks.push(chunk);
    else this.#chunks = [];
  }

  end(): void {
    if (this.#length <= this.messages.maxBytes) this.onEnd(Buffer.concat(this.#chunks));
    else this.messages.warnOfLength('tool');
  }
}

/** Reads a stream of events (`text/event-stream`) whose lines end in LF or CRLF: the data of each is a message. */
export class AnswerEvents implements ObservedAnswer {
  readonly #lines: BoundedLines;
  #data: Uint8Array[] = [];
  #length = 0;

  constructor(private readonly messages: MessageReader) {
    this.#lines = new BoundedLines(messages.maxBytes, this.#read, () => messages.warnOfLength('tool'));
  }

  add(chunk: Uint8Array): void {
    this.#lines.add(chunk);
  }

  end(): void {}

  readonly #read = (bytes: Uint8Array): void => {
    const line = bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes;
    if (line.length === 0) return void this.#dispatch();
    if (!DATA.equals(line.subarray(0, DATA.length))) return;
    const data = line.subarray(DATA.length);
    this.#length += data.length;
    if (this.#length <= this.messages.maxBytes) this.#data.push(data, LINE_FEED);
  };

  #dispatch(): void {
    const data = Buffer.concat(this.#data);
    const fits = this.#length <= this.messages.maxBytes;
    this.#data = [];
    this.#length = 0;
    if (!fits) this.messages.warnOfLength('tool');
    else if (data.some(byte => byte > 0x20)) this.messages.read(data, 'tool');
  }
}
