import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { TransportError } from '../../http/transport-error.js';
import { exactJson } from '../../util/exact-json.js';
import { parseJson } from '../../util/json.js';
import { LineSplitter } from '../../util/text.js';
import { isRecord } from '../../util/values.js';
import { readMessage, receivedMessage } from './messages.js';

const LINE_FEED = Buffer.from('\n');

/**
 * Replaces answers that the SDK would refuse (see {@link readMessage}) in the body of an HTTP response. It keeps their results, and
 * results with numbers that the SDK's `JSON.parse` changes, until the SDK delivers the message.
 */
export class AnswerRewriter {
  readonly #results = new Map<unknown, unknown>();

  constructor(private readonly maxBytes: number) {}

  /** Reads a body of JSON, or of events with one line of data. */
  rewrite(response: Response): Response {
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
    const body = response.body?.pipeThrough(isStream ? this.#byLine() : this.#asWhole());
    return new Response(body ?? null, response);
  }

  /** Puts the result that the server sent into the message that the SDK delivers. */
  restore(message: JSONRPCMessage): void {
    if (!('result' in message) || !this.#results.has(message.id)) return;
    Object.assign(message, { result: this.#results.get(message.id) });
    this.#results.delete(message.id);
  }

  #byLine(): TransformStream<Uint8Array, Uint8Array> {
    let send: (bytes: Uint8Array) => void = () => {};
    const lines = new LineSplitter(this.maxBytes, line => send(this.#rewriteLine(line)));
    return new TransformStream({
      transform: (chunk, controller) => {
        send = bytes => controller.enqueue(bytes);
        if (!lines.add(chunk))
          controller.error(new TransportError('answer', 'TOO_LARGE', 'a line is too long'));
      },
      flush: () => void lines.add(LINE_FEED),
    });
  }

  #rewriteLine(line: Uint8Array): Uint8Array {
    const data = /^data: ?(.*?)\r?$/s.exec(Buffer.from(line).toString('utf8'))?.[1];
    const message = data === undefined ? null : this.#replacementOf(data);
    return message === null ? Buffer.concat([line, LINE_FEED]) : Buffer.from(`data: ${message}\n`);
  }

  #asWhole(): TransformStream<Uint8Array, Uint8Array> {
    const chunks: Uint8Array[] = [];
    return new TransformStream({
      transform: chunk => void chunks.push(chunk),
      flush: controller => {
        const bytes = Buffer.concat(chunks);
        controller.enqueue(Buffer.from(this.#replacementOf(bytes.toString('utf8')) ?? bytes));
      },
    });
  }

  /** Returns the JSON that the SDK gets instead; null if it can read this. */
  #replacementOf(text: string): string | null {
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
