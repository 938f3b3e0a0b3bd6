import { Content } from '../events/content.js';
import type { Hop, RequestEvent } from '../events/events.js';
import type { Log } from '../events/log.js';
import { type RecordedRequest, recordRequest } from '../events/record-request.js';
import { type HttpAnswer, type HttpClient, type ReadLimit, TransportError } from '../http/client.js';
import type { Clock } from '../system/clock.js';
import { withStringMember } from '../util/json-format.js';
import { decodeUtf8 } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { ResponseBarrier, ThreadQueues } from './ordering.js';

/** What a message is about, on either side. */
export interface About {
  readonly purpose: RequestEvent['purpose'];
  /** Keys of the calls, and the thread, as far as they are known. */
  readonly calls?: string[] | undefined;
  readonly thread?: string | undefined;
}

/** A message on one side. */
interface Message {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Content | undefined;
}

interface Outgoing extends Message {
  readonly method: 'GET' | 'POST';
  readonly signal?: AbortSignal;
}

/** Of a toolset; of any other answer, as much as is passed on. */
const TOOLSET: ReadLimit = { maxBytes: 10 * 1024 * 1024, opaque: true };

const ACKNOWLEDGEMENT: ReadLimit = { maxBytes: 1024 * 1024, opaque: true, partial: true };

/** Time for the body of an answer after its head, which is what counts. */
const BODY_MS = 1_000;

const NO_BYTES = new Uint8Array(0);

/** How long a message waits for the answer to the one before it in its thread. */
const PATIENCE_MS = 100;

/** The transcript could not be written, so the message was not sent on. */
export class Unkept extends Error {}

/** Only callbacks come from the tool. */
export function isFromTool(purpose: RequestEvent['purpose']): boolean {
  return purpose === 'callback';
}

/** Sends messages on, and records each on both sides. */
export class Forwarder {
  readonly queues: ThreadQueues;
  readonly barrier = new ResponseBarrier();

  constructor(
    readonly log: Log,
    private readonly client: HttpClient,
    private readonly clock: Clock,
  ) {
    this.queues = new ThreadQueues(clock, PATIENCE_MS);
  }

  /** Records a message where it came from. */
  received(about: About, message: Message): RecordedRequest {
    return this.#record(about, isFromTool(about.purpose) ? 'tool-side' : 'runtime-side', message);
  }

  /**
   * Sends a message on, once, after it was recorded: what could not be recorded is not sent.
   * @throws TransportError without an answer; {@link Unkept}.
   */
  async send(about: About, outgoing: Outgoing): Promise<HttpAnswer> {
    const hop = isFromTool(about.purpose) ? 'runtime-side' : 'tool-side';
    const recorded = this.#record(about, hop, outgoing);
    try {
      await this.log.kept().catch(cause => {
        throw new Unkept('the transcript could not be written', { cause });
      });
      const answer = await (about.purpose === 'discovery'
        ? this.#request(outgoing, TOOLSET)
        : this.#requestHead(outgoing));
      recorded.answered(answer.status, responseOf(answer));
      return answer;
    } catch (error) {
      const { phase, code } = error instanceof TransportError ? error : UNKEPT;
      recorded.broken(phase, code);
      throw error;
    }
  }

  warn(message: string, { calls, thread }: Pick<About, 'calls' | 'thread'>): void {
    this.log.emit({ kind: 'warned', message, calls, thread });
  }

  #record({ purpose, calls, thread }: About, hop: Hop, message: Message): RecordedRequest {
    const { method, url, headers, body } = message;
    const [from, to] = isFromTool(purpose) ? (['tool', 'runtime'] as const) : (['runtime', 'tool'] as const);
    return recordRequest(this.log, { from, to, purpose, calls, thread, hop, method, url, headers, body });
  }

  /** Returns the head alone if the body does not come in time. */
  async #requestHead(outgoing: Outgoing): Promise<HttpAnswer> {
    const patience = new AbortController();
    let head: HttpAnswer | null = null;
    let cancel = () => {};
    const onHead = (status: number, headers: HttpAnswer['headers']) => {
      head = { status, headers, body: NO_BYTES };
      cancel = this.clock.after(BODY_MS, () => patience.abort());
      return ACKNOWLEDGEMENT;
    };
    try {
      return await this.#request(outgoing, onHead, patience.signal);
    } catch (error) {
      if (head) return head;
      throw error;
    } finally {
      cancel();
    }
  }

  /** Without a time limit: the side that waits for the answer has one. */
  #request(
    { method, url, headers, body, signal }: Outgoing,
    read: Parameters<HttpClient['send']>[0]['read'],
    patience?: AbortSignal,
  ): Promise<HttpAnswer> {
    const signals = [signal, patience].filter(each => each !== undefined);
    return this.client.send({
      ...{ method, url, headers, read, timeoutMs: 0 },
      ...(body && { body: body.bytes }),
      ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
    });
  }
}

const UNKEPT = { phase: 'transcript', code: 'UNWRITABLE' };

/** An answer for the log. An encoded body is left out: secrets could not be removed from it. */
export function responseOf({ headers, body }: HttpAnswer) {
  const isReadable = body.length > 0 && headers['content-encoding'] === undefined;
  return { headers: { ...headers }, body: isReadable ? new Content(body) : undefined };
}

/** The direct members of a message; empty if it is not a JSON object. */
export function fieldsOf(body: Content | undefined): Readonly<Record<string, unknown>> {
  return body?.json.ok && isRecord(body.json.value) ? body.json.value : {};
}

export function stringIn(body: Content | undefined, name: string): string | undefined {
  const value = fieldsOf(body)[name];
  return typeof value === 'string' ? value : undefined;
}

/** A JSON object with another string in the place of one that it has, and otherwise the same bytes. */
export function withString(body: Content, name: string, value: string): Content {
  const bytes = Buffer.from(withStringMember(decodeUtf8(body.bytes) ?? '', name, value));
  const { json } = body;
  return json.ok && isRecord(json.value)
    ? Content.withJson(bytes, { ...json, value: { ...json.value, [name]: value } })
    : new Content(bytes);
}
