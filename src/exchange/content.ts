import { createHash } from 'node:crypto';
import { type JsonReading, readJson } from '../text/json.js';

/** A message body: the bytes as they came, and what follows from them, computed once and only when asked. */
export class Content {
  readonly bytes: Uint8Array;
  #sha256: string | undefined;
  #json: JsonReading | undefined;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  static ofJson(value: unknown): Content {
    return new Content(Buffer.from(JSON.stringify(value)));
  }

  /** Lower-case hex. */
  get sha256(): string {
    this.#sha256 ??= createHash('sha256').update(this.bytes).digest('hex');
    return this.#sha256;
  }

  get json(): JsonReading {
    this.#json ??= readJson(this.bytes);
    return this.#json;
  }
}
