import {
  type JSONRPCMessage,
  StreamableHTTPClientTransport,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import { cameWithin } from '../../system/within.js';
import { TransportError } from '../../transport/client.js';
import { guardedFetch } from '../../transport/guarded-fetch.js';
import type { Link } from './link.js';

const LEAVE_MS = 500;

export interface HttpOptions {
  readonly url: string;
  /** Sent to the origin of the URL, and to no other. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes of an answer. */
  readonly maxBytes: number;
}

/** A server that is reached at a URL (MCP, "Streamable HTTP"). */
export class HttpLink extends StreamableHTTPClientTransport implements Link {
  readonly lost: Promise<never>;
  readonly lastWords: readonly string[] = [];
  readonly garbage = { count: 0, first: '' };
  #lose: (error: TransportError) => void = () => {};
  readonly #stopFetching: () => Promise<void>;
  readonly #unanswered = new Set<string | number>();
  /** Notifications, and answers of ours. */
  readonly #passing = new Set<Promise<void>>();

  constructor({ url, headers, maxBytes }: HttpOptions) {
    const { fetch, close } = guardedFetch({ maxBytes });
    super(new URL(url), { requestInit: { headers: { ...headers } }, fetch });
    this.#stopFetching = close;
    this.lost = new Promise<never>((_, reject) => {
      this.#lose = reject;
    });
    this.lost.catch(() => {}); // nobody may be waiting
    this.onmessage = message => this.#answered(message);
  }

  /** A stream that ends without the answer it was opened for is told to nobody by the SDK. */
  override send(
    message: JSONRPCMessage | JSONRPCMessage[],
    options?: TransportSendOptions & { resumptionToken?: string },
  ): Promise<void> {
    if (Array.isArray(message) || !('method' in message) || !('id' in message))
      return this.#pass(super.send(message, options));
    const { id } = message;
    this.#unanswered.add(id);
    return super.send(message, { ...options, onRequestStreamEnd: () => this.#streamEnded(id) });
  }

  /** What is on its way goes out, and the session is ended as MCP asks; nobody waits long for either. */
  override async close(): Promise<void> {
    await cameWithin(Promise.allSettled(this.#passing), LEAVE_MS);
    await cameWithin(
      this.terminateSession().catch(() => {}),
      LEAVE_MS,
    );
    await super.close();
    await this.#stopFetching();
  }

  #pass(sending: Promise<void>): Promise<void> {
    this.#passing.add(sending);
    return sending.finally(() => this.#passing.delete(sending));
  }

  #answered(message: JSONRPCMessage): void {
    if (!('method' in message) && message.id !== undefined) this.#unanswered.delete(message.id);
  }

  #streamEnded(id: string | number): void {
    if (this.#unanswered.has(id))
      this.#lose(new TransportError('answer', 'ECONNRESET', 'the answer ended before it was complete'));
  }
}
