import {
  type JSONRPCMessage,
  ProtocolError,
  SdkError,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Transport,
  type TransportSendOptions,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { TransportError } from '../../http/client.js';
import { guardedFetch } from '../../http/guarded-fetch.js';
import { type PipedCommand, startPipedCommand } from '../../system/child.js';
import { finishedWithin } from '../../system/clock.js';
import type { Sink } from '../../system/streams.js';
import { exactJson } from '../../util/exact-json.js';
import { parseJson, readJson } from '../../util/json.js';
import { bytesText, LineSplitter } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { readMessage, receivedMessage } from './messages.js';

export type MessageListener = (message: unknown, way: 'sent' | 'received') => void;

/** An SDK transport that also reports a lost connection; the SDK would wait forever. */
export interface Link extends Transport {
  /** Rejects with a TransportError when the connection is lost. */
  readonly lost: Promise<never>;
  /** The last lines of a command's stderr. */
  readonly lastLines?: readonly string[];
  /** Invalid lines of a command's stdout: their number, and the beginning of the first. */
  readonly invalidLines?: { readonly count: number; readonly first: string };
}

/** A promise that is rejected on demand and never reported as unhandled. */
class Loss {
  lose: (error: TransportError) => void = () => {};
  readonly promise = new Promise<never>((_, reject) => {
    this.lose = reject;
  });

  constructor() {
    this.promise.catch(() => {});
  }
}

/** An MCP server: a URL, or a command that starts it. */
export interface McpPeer {
  readonly kind: 'http' | 'stdio';
  /** The URL, or the command as given. */
  readonly name: string;
}

export interface McpTarget extends McpPeer {
  /** The program and its arguments, if they were given as a list. */
  readonly words?: readonly string[];
  /** Sent to the origin of the URL only; not used for a command. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

interface LinkOptions {
  readonly maxBytes: number;
  readonly onStderr?: Sink;
  readonly onMessage: MessageListener;
}

export function linkTo(target: McpTarget, options: LinkOptions): Link {
  return target.kind === 'http' ? new HttpLink(target, options) : new StdioLink(target, options);
}

/**
 * A started server that communicates over stdin and stdout (MCP, "stdio"). The SDK's own transport does not limit messages and does
 * not stop child processes of the server.
 */
class StdioLink implements Link {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly invalidLines = { count: 0, first: '' };
  readonly #loss = new Loss();
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
    this.#loss.lose(new TransportError('answer', code, message));
    this.onclose?.();
  }
}

const CLOSE_MS = 500;

const LINE_FEED = Buffer.from('\n');

/** A server at a URL (MCP, "Streamable HTTP"). */
class HttpLink extends StreamableHTTPClientTransport implements Link {
  readonly #loss = new Loss();
  readonly lost = this.#loss.promise;
  readonly #closeFetch: () => Promise<void>;
  readonly #unanswered = new Set<string | number>();
  readonly #pending = new Set<Promise<void>>();
  readonly #onMessage: MessageListener;

  constructor({ name, headers = {} }: McpTarget, { maxBytes, onMessage }: LinkOptions) {
    const { fetch, close } = guardedFetch({ maxBytes });
    const answers = new Answers(maxBytes);
    const tapped: typeof fetch = async (...request) => answers.readIn(await fetch(...request));
    super(new URL(name), { requestInit: { headers: { ...headers } }, fetch: tapped });
    this.#closeFetch = close;
    this.#onMessage = onMessage;
    this.onmessage = message => {
      answers.restore(message);
      onMessage(receivedMessage(message), 'received');
      if (!('method' in message) && message.id !== undefined) this.#unanswered.delete(message.id);
    };
  }

  /** The SDK does not report a stream that ends without its answer. */
  override send(
    message: JSONRPCMessage | JSONRPCMessage[],
    options?: TransportSendOptions & { resumptionToken?: string },
  ): Promise<void> {
    this.#onMessage(message, 'sent');
    if (Array.isArray(message) || !('method' in message) || !('id' in message)) {
      const sending = super.send(message, options);
      this.#pending.add(sending);
      return sending.finally(() => this.#pending.delete(sending));
    }
    const { id } = message;
    this.#unanswered.add(id);
    const onRequestStreamEnd = () => {
      if (this.#unanswered.has(id))
        this.#loss.lose(
          new TransportError('answer', 'ECONNRESET', 'the answer ended before it was complete'),
        );
    };
    return super.send(message, { ...options, onRequestStreamEnd });
  }

  /** Waits briefly for pending messages, then ends the session as MCP requires. */
  override async close(): Promise<void> {
    await finishedWithin(Promise.allSettled(this.#pending), CLOSE_MS);
    await finishedWithin(
      this.terminateSession().catch(() => {}),
      CLOSE_MS,
    );
    await super.close();
    await this.#closeFetch();
  }
}

/**
 * Answers that the SDK would refuse (see {@link readMessage}), and results with numbers that its `JSON.parse` changes; each result is
 * kept until the SDK delivers its message.
 */
class Answers {
  readonly #results = new Map<unknown, unknown>();

  constructor(private readonly maxBytes: number) {}

  /** Reads JSON, or events with one line of data. */
  readIn(answer: Response): Response {
    const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const body = answer.body?.pipeThrough(isStream ? this.#lines() : this.#whole());
    return new Response(body ?? null, answer);
  }

  restore(message: JSONRPCMessage): void {
    if (!('result' in message) || !this.#results.has(message.id)) return;
    Object.assign(message, { result: this.#results.get(message.id) });
    this.#results.delete(message.id);
  }

  #lines(): TransformStream<Uint8Array, Uint8Array> {
    let send: (bytes: Uint8Array) => void = () => {};
    const lines = new LineSplitter(this.maxBytes, line => send(this.#line(line)));
    return new TransformStream({
      transform: (chunk, controller) => {
        send = bytes => controller.enqueue(bytes);
        if (!lines.add(chunk))
          controller.error(new TransportError('answer', 'TOO_LARGE', 'a line is too long'));
      },
      flush: () => void lines.add(LINE_FEED),
    });
  }

  #line(line: Uint8Array): Uint8Array {
    const data = /^data: ?(.*?)\r?$/s.exec(Buffer.from(line).toString('utf8'))?.[1];
    const message = data === undefined ? null : this.#read(data);
    return message === null ? Buffer.concat([line, LINE_FEED]) : Buffer.from(`data: ${message}\n`);
  }

  #whole(): TransformStream<Uint8Array, Uint8Array> {
    const chunks: Uint8Array[] = [];
    return new TransformStream({
      transform: chunk => void chunks.push(chunk),
      flush: controller => {
        const bytes = Buffer.concat(chunks);
        controller.enqueue(Buffer.from(this.#read(bytes.toString('utf8')) ?? bytes));
      },
    });
  }

  /** Returns the JSON that the SDK gets instead; null if it can read this. */
  #read(text: string): string | null {
    const json = parseJson(text);
    if (!json.ok || !isRecord(json.value)) return null;
    const message = readMessage(json.value);
    if (!message || !('result' in message)) return null;
    const isValid = receivedMessage(message) === message;
    if (!isValid || json.notes.length > 0)
      this.#results.set(message.id, isValid ? json.value['result'] : message.result);
    return isValid ? null : exactJson(message);
  }
}

/** The cause of a rejected request, as recorded in a transcript. */
export type McpFailure =
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  | { readonly kind: 'status'; readonly status: number; readonly text: string }
  | { readonly kind: 'broken'; readonly phase: string; readonly code: string };

export function failureOfMcp(error: unknown): McpFailure {
  if (error instanceof ProtocolError) {
    const { code, message, data } = error;
    return { kind: 'error', code, message, ...(data !== undefined && { data }) };
  }
  if (error instanceof SdkHttpError) {
    const { text } = error.data;
    return { kind: 'status', status: error.status, text: typeof text === 'string' ? text : '' };
  }
  if (error instanceof UnauthorizedError) return { kind: 'status', status: 401, text: '' };
  if (error instanceof TransportError) return { kind: 'broken', phase: error.phase, code: error.code };
  return { kind: 'broken', phase: 'answer', code: error instanceof SdkError ? error.code : 'UNREADABLE' };
}
