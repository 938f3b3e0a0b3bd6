import type { Readable, Writable } from 'node:stream';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/server';
import { readJson } from '../../util/json.js';
import { bytesText, LineSplitter } from '../../util/text.js';

export interface Ends {
  readonly stdin: Readable;
  /** Must not be written to by anything else. */
  readonly stdout: Writable;
}

/**
 * JSON-RPC in lines (MCP, "stdio"). Unlike the SDK's transport, it limits the length of lines, reports invalid ones, and answers open
 * requests before it closes.
 */
export class LineTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  #isClosed = false;
  #onOver: () => void = () => {};
  /** Resolves when either side has closed it. */
  readonly over = new Promise<void>(resolve => {
    this.#onOver = resolve;
  });
  readonly #lines: LineSplitter;

  /**
   * @param maxBody maximum length of a line, in bytes
   * @param drain resolves once every request is answered
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
    stdin.off('data', this.#read).off('end', this.#finish).pause(); // the streams stay open, and may fail later
    this.onclose?.();
    this.#onOver();
  }

  readonly #read = (chunk: Uint8Array): void => {
    if (!this.#lines.add(chunk)) this.#fail(new Error(`a line is longer than ${bytesText(this.maxBody)}`));
  };

  readonly #finish = async (): Promise<void> => {
    await new Promise(setImmediate); // lets the last request reach the tool
    await this.drain();
    await new Promise(setImmediate); // lets the last answer be written
    await this.close();
  };

  /** Closes the connection, because the start of the next line is unknown. */
  readonly #fail = (error: Error): void => {
    this.onerror?.(error);
    void this.close();
  };

  #receive(line: Uint8Array): void {
    const json = readJson(line);
    if (json.ok) this.#deliver(json.value);
    else if (line.some(byte => byte > 0x20))
      this.onerror?.(new Error(`invalid JSON in a line: ${json.reason}`));
  }

  #deliver(value: unknown): void {
    let message: JSONRPCMessage | null = null;
    try {
      message = parseJSONRPCMessage(value);
    } catch {
      this.onerror?.(new Error('a line is not a JSON-RPC message'));
    }
    if (message) this.onmessage?.(message);
  }
}
