import { readJson } from '../../util/json.js';
import { bytesText, excerpt } from '../../util/text.js';
import type { Headers, McpConnection, McpObserver, Side } from './observer.js';

/** Reads the messages of a connection, or of one request over HTTP. What cannot be read is a warning. */
export class MessageReader {
  /** @param maxBytes the longest message that is read */
  constructor(
    private readonly observer: McpObserver,
    private readonly connection: McpConnection,
    readonly maxBytes: number,
  ) {}

  /**
   * Reads a message of JSON-RPC, or a batch.
   * @param headers of a request over HTTP
   * @returns its JSON; undefined if it has none
   */
  read(bytes: Uint8Array, from: Side, headers?: Headers): unknown {
    const json = readJson(bytes);
    const value = json.ok ? json.value : undefined;
    if (this.connection.sees(value, from, headers)) return value;
    const start = Buffer.from(bytes.subarray(0, 2_000)).toString('utf8');
    this.observer.warn(`${nameOf(from)} sent what is not a message of JSON-RPC: ${excerpt(start)}`);
    return value;
  }

  warnOfLength(from: Side): void {
    this.observer.warn(
      `${nameOf(from)} sent more than ${bytesText(this.maxBytes)} at once, which is not recorded`,
    );
  }

  warnOfEndWithinLine(from: Side): void {
    this.observer.warn(`${nameOf(from)} ended within a line, which is not a message`);
  }
}

function nameOf(side: Side): string {
  return side === 'client' ? 'the client' : 'the server';
}
