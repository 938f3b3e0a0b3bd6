import { BoundedLines, readMessage, type Surroundings, warnOfLength } from './lines.js';

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
    private readonly around: Surroundings,
    private readonly onEnd: (bytes: Uint8Array) => void,
  ) {}

  add(chunk: Uint8Array): void {
    this.#length += chunk.length;
    if (this.#length <= this.around.maxBytes) this.#chunks.push(chunk);
    else this.#chunks = [];
  }

  end(): void {
    if (this.#length <= this.around.maxBytes) this.onEnd(Buffer.concat(this.#chunks));
    else warnOfLength('tool', this.around);
  }
}

/** Reads a stream of events (`text/event-stream`): the data of each is a message. */
export class AnswerEvents implements ObservedAnswer {
  readonly #lines: BoundedLines;
  #data: Uint8Array[] = [];
  #length = 0;

  constructor(private readonly around: Surroundings) {
    this.#lines = new BoundedLines(around.maxBytes, this.#read, () => warnOfLength('tool', around));
  }

  add(chunk: Uint8Array): void {
    this.#lines.add(chunk);
  }

  end(): void {}

  readonly #read = (bytes: Uint8Array): void => {
    const line = bytes.at(-1) === CARRIAGE_RETURN ? bytes.subarray(0, -1) : bytes;
    if (line.length === 0) return void this.#dispatch();
    if (!DATA.every((byte, index) => line[index] === byte)) return;
    const data = line.subarray(DATA.length);
    this.#length += data.length;
    if (this.#length <= this.around.maxBytes) this.#data.push(data, LINE_FEED);
  };

  #dispatch(): void {
    const data = Buffer.concat(this.#data);
    const fits = this.#length <= this.around.maxBytes;
    [this.#data, this.#length] = [[], 0];
    if (!fits) warnOfLength('tool', this.around);
    else if (data.some(byte => byte > 0x20)) readMessage(data, 'tool', this.around);
  }
}

const DATA = Buffer.from('data:');

const LINE_FEED = Buffer.from('\n');

const CARRIAGE_RETURN = 0x0d;
