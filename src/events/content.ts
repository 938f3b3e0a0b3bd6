import { hash } from 'node:crypto';
import { exactJson } from '../util/exact-json.js';
import { type JsonReading, parseJson, readJson } from '../util/json.js';
import { decodeUtf8 } from '../util/text.js';
import { valueAt } from '../util/values.js';
import type { Body } from './events.js';

/** A message body: the bytes, and values computed from them once, on first use. */
export class Content implements Body {
  readonly size: number;
  #bytes: Uint8Array | null;
  #sha256: string | undefined;
  #json: JsonReading | undefined;
  #text: string | undefined;

  constructor(bytes: Uint8Array) {
    this.size = bytes.length;
    this.#bytes = bytes;
  }

  static ofJson(value: unknown): Content {
    return new Content(Buffer.from(exactJson(value)));
  }

  /** A body whose JSON is known already, since it was made from another body. */
  static withJson(bytes: Uint8Array, json: JsonReading): Content {
    const content = new Content(bytes);
    content.#json = json;
    return content;
  }

  /**
   * Computes the digest and JSON, then drops the bytes to save memory: `size`, `sha256`, `json` and `messageType` work; `bytes` and `text`
   * throw. The caller must not use the bytes again.
   */
  static withoutBytes(bytes: Uint8Array): Content {
    const content = new Content(bytes);
    content.#sha256 = digest(bytes);
    content.#json = readJson(bytes);
    content.#bytes = null;
    return content;
  }

  /** A body whose text is written soon: only the text is kept in memory, unless it is not UTF-8. All getters work. */
  static keepingText(bytes: Uint8Array): Content {
    const content = new Content(bytes);
    const text = decodeUtf8(bytes);
    if (text === null) return content;
    content.#text = text;
    content.#sha256 = digest(bytes);
    content.#bytes = null;
    content.#json = parseJson(text);
    return content;
  }

  /** Whether two bodies have the same bytes; null stands for no body. */
  static areSame(one: Body | null, other: Body | null): boolean {
    return one === other || (one?.size === other?.size && one?.sha256 === other?.sha256);
  }

  /** The `type` of a message; null if the body is not a message. */
  get messageType(): string | null {
    const type = this.json.ok ? valueAt(this.json.value, 'type') : null;
    return typeof type === 'string' ? type : null;
  }

  /** Null if the body is not UTF-8. */
  get text(): string | null {
    return this.#text === undefined ? decodeUtf8(this.bytes) : this.#text;
  }

  /** @throws Error after {@link withoutBytes} */
  get bytes(): Uint8Array {
    if (this.#bytes) return this.#bytes;
    if (this.#text === undefined) throw new Error('the bytes of this body were not kept');
    return Buffer.from(this.#text);
  }

  get sha256(): string {
    this.#sha256 ??= digest(this.bytes);
    return this.#sha256;
  }

  get json(): JsonReading {
    this.#json ??= readJson(this.bytes);
    return this.#json;
  }

  /** As {@link json}, but does not cache the value, to save memory. */
  peekJson(): JsonReading {
    return this.#json ?? readJson(this.bytes);
  }
}

function digest(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'hex');
}
