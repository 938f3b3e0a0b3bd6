import {
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { guardedFetch } from '../../http/guarded-fetch.js';
import { TransportError } from '../../http/transport-error.js';
import { finishedWithin } from '../../system/clock.js';
import { AnswerRewriter } from './answer-rewriter.js';
import { ConnectionLoss, type Link, type LinkOptions, type McpTarget, type MessageListener } from './link.js';
import { receivedMessage } from './messages.js';

const CLOSE_MS = 500;

/** A server at a URL (MCP, "Streamable HTTP"). */
export class HttpLink implements Link {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly hasPerRequestStream: boolean;
  readonly #loss = new ConnectionLoss();
  readonly lost = this.#loss.promise;
  readonly #transport: StreamableHTTPClientTransport;
  readonly #answers: AnswerRewriter;
  readonly #closeFetch: () => Promise<void>;
  readonly #unanswered = new Set<string | number>();
  readonly #pending = new Set<Promise<void>>();
  readonly #onMessage: MessageListener;

  constructor({ name, headers = {} }: McpTarget, { maxBytes, onMessage }: LinkOptions) {
    const { fetch, close } = guardedFetch({ maxBytes });
    const answers = new AnswerRewriter(maxBytes);
    const rewriting: typeof fetch = async (...request) => answers.rewrite(await fetch(...request));
    const transport = new StreamableHTTPClientTransport(new URL(name), {
      requestInit: { headers: { ...headers } },
      fetch: rewriting,
    });
    transport.onclose = () => this.onclose?.();
    transport.onerror = error => this.onerror?.(error);
    transport.onmessage = message => this.#receive(message);
    this.hasPerRequestStream = transport.hasPerRequestStream;
    this.#transport = transport;
    this.#answers = answers;
    this.#closeFetch = close;
    this.#onMessage = onMessage;
  }

  get sessionId(): string | undefined {
    return this.#transport.sessionId;
  }

  setProtocolVersion(version: string): void {
    this.#transport.setProtocolVersion(version);
  }

  start(): Promise<void> {
    return this.#transport.start();
  }

  /** The SDK does not report a stream that ends without its answer. */
  send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    this.#onMessage(message, 'sent');
    if (!('method' in message) || !('id' in message)) {
      const sending = this.#transport.send(message, options);
      this.#pending.add(sending);
      return sending.finally(() => this.#pending.delete(sending));
    }
    const { id } = message;
    this.#unanswered.add(id);
    const onRequestStreamEnd = () => {
      if (this.#unanswered.has(id))
        this.#loss.reject(
          new TransportError('answer', 'ECONNRESET', 'the answer ended before it was complete'),
        );
    };
    return this.#transport.send(message, { ...options, onRequestStreamEnd });
  }

  /** Waits briefly for pending messages, then ends the session as MCP requires. */
  async close(): Promise<void> {
    await finishedWithin(Promise.allSettled(this.#pending), CLOSE_MS);
    await finishedWithin(
      this.#transport.terminateSession().catch(() => {}),
      CLOSE_MS,
    );
    await this.#transport.close();
    await this.#closeFetch();
  }

  /** Restores the result before the SDK's client, which sets `onmessage`, gets the message. */
  #receive(message: JSONRPCMessage): void {
    this.#answers.restore(message);
    this.#onMessage(receivedMessage(message), 'received');
    if (!('method' in message) && message.id !== undefined) this.#unanswered.delete(message.id);
    this.onmessage?.(message);
  }
}
