import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { parseJSONRPCMessage } from '@modelcontextprotocol/client';
import { type SpokenCommand, startSpokenCommand } from '../../system/spoken-command.js';
import { bytesText } from '../../text/bytes-text.js';
import { readJson } from '../../text/json.js';
import { LineSplitter } from '../../text/line-splitter.js';
import { TransportError } from '../../transport/client.js';
import type { Link } from './link.js';

export interface StdioOptions {
  readonly command: string;
  readonly cwd?: string;
  /** Added to our environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Bytes of a message. */
  readonly maxBytes: number;
  /** Gets what the server writes to stderr, as it comes. */
  readonly onStderr?: (text: string) => void;
}

/** A server that is started for this, and talks over stdin and stdout, one message a line (MCP, "stdio"). */
export class StdioLink implements Link, Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Lines on stdout that are no message: how many, and the beginning of the first. */
  readonly garbage = { count: 0, first: '' };
  #server: SpokenCommand | undefined;
  #lose: (error: TransportError) => void = () => {};
  /** Rejects once nothing can come any more. */
  readonly lost: Promise<never>;
  #isLost = false;

  constructor(private readonly options: StdioOptions) {
    this.lost = new Promise<never>((_, reject) => {
      this.#lose = reject;
    });
    this.lost.catch(() => {}); // nobody may be waiting
  }

  get lastWords(): string[] {
    return this.#server?.stderr() ?? [];
  }

  async start(): Promise<void> {
    const { maxBytes, ...started } = this.options;
    this.#server = startSpokenCommand(started);
    const { stdout, ended } = this.#server;
    const lines = new LineSplitter(maxBytes, line => this.#read(line));
    stdout.on('data', (chunk: Buffer) => {
      if (!lines.add(chunk)) this.#end('TOO_LARGE', `a message is larger than ${bytesText(maxBytes)}`);
    });
    void ended.then(how => this.#end('ENDED', `the server ${how}`));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#server?.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    await this.#server?.stop();
    this.#end('CLOSED', 'the connection was closed');
  }

  #read(line: Uint8Array): void {
    const message = messageIn(line);
    if (message) this.onmessage?.(message);
    else if (line.some(byte => byte > 0x20)) this.#note(line);
  }

  #note(line: Uint8Array): void {
    if (this.garbage.count === 0) this.garbage.first = Buffer.from(line.subarray(0, 200)).toString('utf8');
    this.garbage.count += 1;
  }

  #end(code: string, message: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#lose(new TransportError('answer', code, message));
    this.onclose?.();
  }
}

function messageIn(line: Uint8Array): JSONRPCMessage | null {
  const json = readJson(line);
  if (!json.ok) return null;
  try {
    return parseJSONRPCMessage(json.value);
  } catch {
    return null;
  }
}
