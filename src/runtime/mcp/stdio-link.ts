import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { TransportError } from '../../http/transport-error.js';
import { type PipedCommand, startPipedCommand } from '../../system/child.js';
import { exactJson } from '../../util/exact-json.js';
import { readJson } from '../../util/json.js';
import { bytesText, LineSplitter } from '../../util/text.js';
import { ConnectionLoss, type Link, type LinkOptions, type McpTarget } from './link.js';
import { readMessage, receivedMessage } from './messages.js';

/**
 * A started server that communicates over stdin and stdout (MCP, "stdio"). The SDK's own transport does not limit messages and does
 * not stop child processes of the server.
 */
export class StdioLink implements Link {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly invalidLines = { count: 0, first: '' };
  readonly #loss = new ConnectionLoss();
  readonly lost = this.#loss.promise;
  #server: PipedCommand | undefined;
  #isLost = false;

  constructor(
    private readonly target: McpTarget,
    private readonly options: LinkOptions,
  ) {}

  get lastLines(): string[] {
    return this.#server?.stderr() ?? [];
  }

  async start(): Promise<void> {
    const { name, words, env, cwd } = this.target;
    const { maxBytes, onStderr } = this.options;
    this.#server = startPipedCommand({
      command: words ?? name,
      ...(onStderr && { onStderr }),
      ...(env && { env }),
      ...(cwd !== undefined && { cwd }),
    });
    const { stdout, ended } = this.#server;
    const lines = new LineSplitter(maxBytes, line => this.#read(line));
    stdout.on('data', (chunk: Buffer) => {
      if (!lines.add(chunk)) this.#end('TOO_LARGE', `a message is larger than ${bytesText(maxBytes)}`);
    });
    void ended.then(how => this.#end('ENDED', `the server ${how}`));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.options.onMessage(message, 'sent');
    this.#server?.stdin.write(`${exactJson(message)}\n`);
  }

  async close(): Promise<void> {
    await this.#server?.stop();
    this.#end('CLOSED', 'the connection was closed');
  }

  #read(line: Uint8Array): void {
    const json = readJson(line);
    const message = json.ok ? readMessage(json.value) : null;
    if (message) {
      this.options.onMessage(receivedMessage(message), 'received');
      this.onmessage?.(message);
    } else if (line.some(byte => byte > 0x20)) {
      if (this.invalidLines.count === 0)
        this.invalidLines.first = Buffer.from(line.subarray(0, 200)).toString('utf8');
      this.invalidLines.count += 1;
    }
  }

  #end(code: string, message: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#loss.reject(new TransportError('answer', code, message));
    this.onclose?.();
  }
}
