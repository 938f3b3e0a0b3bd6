import type { Readable, Writable } from 'node:stream';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { bytesText } from '../../text/bytes-text.js';
import { readJson } from '../../text/json.js';
import { LineSplitter } from '../../text/line-splitter.js';

export interface Ends {
  readonly stdin: Readable;
  /** Nothing else may be written there. */
  readonly stdout: Writable;
}

/**
 * JSON-RPC in lines (MCP, "stdio"). Unlike the SDK's own, it says what it makes of a line that is no message, and when the client has
 * no more to say, what it asked is answered before the end.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  #isClosed = false;
  #end: () => void = () => {};
  /** Resolves when it is closed, by either side. */
  readonly over = new Promise<void>(resolve => {
    this.#end = resolve;
  });
  readonly #lines: LineSplitter;

  /**
   * @param maxBody bytes of a line
   * @param drain resolves once everything that came is answered
   */
  constructor(
    private readonly ends: Ends,
    private readonly maxBody: number,
    private readonly drain: () => Promise<void>,
  ) {
    this.#lines = new LineSplitter(maxBody, line => this.#receive(line));
  }

  async start(): Promise<void> {
    const { stdin, stdout } = this.ends;
    stdin.on('data', this.#read).on('end', this.#finish).on('error', this.#fail);
    stdout.on('error', this.#fail);
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      this.ends.stdout.write(`${JSON.stringify(message)}\n`, error => (error ? reject(error) : resolve()));
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { stdin } = this.ends;
    stdin.off('data', this.#read).off('end', this.#finish).pause(); // the streams outlive us, and may fail later
    this.onclose?.();
    this.#end();
  }

  readonly #read = (chunk: Uint8Array): void => {
    if (!this.#lines.add(chunk)) this.#fail(new Error(`a line is longer than ${bytesText(this.maxBody)}`));
  };

  readonly #finish = async (): Promise<void> => {
    await new Promise(setImmediate); // the last request is on its way
    await this.drain();
    await new Promise(setImmediate); // the last answer is on its way
    await this.close();
  };

  /** Where a line begins nobody knows any more. */
  readonly #fail = (error: unknown): void => {
    this.#report(error);
    void this.close();
  };

  #receive(line: Uint8Array): void {
    const json = readJson(line);
    if (json.ok) this.#deliver(json.value);
    else if (line.some(byte => byte > 0x20)) this.onerror?.(new Error(`a line is no JSON: ${json.reason}`));
  }

  #deliver(value: unknown): void {
    let message: JSONRPCMessage;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      this.onerror?.(new Error('a line is JSON, but no message of JSON-RPC'));
      return;
    }
    this.onmessage?.(message);
  }

  #report(error: unknown): void {
    this.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }
}
