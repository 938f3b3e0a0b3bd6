import type { IncomingHttpHeaders } from 'node:http';
import { Content } from '../events/content.js';
import type { Hop, RequestEvent } from '../events/events.js';
import { type Log, type RecordedRequest, recordRequest } from '../events/log.js';
import { type HttpAnswer, type HttpClient, type ReadLimit, TransportError } from '../http/client.js';
import type { Answer, Incoming, Reply } from '../http/route.js';
import { systemClock } from '../system/clock.js';
import { withStringMember } from '../util/json-format.js';
import { isPlainHeader } from '../util/redact.js';
import { decodeUtf8 } from '../util/text.js';
import { isRecord } from '../util/values.js';

type Headers = Readonly<Record<string, string>>;

export interface About {
  readonly purpose: RequestEvent['purpose'];
  /** Call keys and thread, as far as they are known. */
  readonly calls?: string[] | undefined;
  readonly thread?: string | undefined;
}

interface Message {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body?: Content | undefined;
}

interface Outgoing extends Message {
  readonly method: 'GET' | 'POST';
  readonly signal?: AbortSignal;
}

const TOOLSET: ReadLimit = { maxBytes: 10 * 1024 * 1024, opaque: true };

/** For every other response the head is enough: the part of its body that arrives within a second is passed on. */
const ACKNOWLEDGEMENT: ReadLimit = { maxBytes: 1024 * 1024, opaque: true, partial: true, withinMs: 1_000 };

/** How long a message waits for the response to the previous one in its thread, in ms. */
const PATIENCE_MS = 100;

/** Promises in queues: each waits for the one before it. */
class Queues {
  readonly #ends = new Map<string, Promise<unknown>>();

  /** Adds to the end of a queue. @param end resolves when the next one may begin */
  add(queue: string, end: Promise<unknown>): void {
    this.#ends.set(queue, end);
    void end.then(() => {
      if (this.#ends.get(queue) === end) this.#ends.delete(queue);
    });
  }

  /** Resolves when everything in the queue has ended. */
  async over(queue: string): Promise<void> {
    await this.#ends.get(queue);
  }
}

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>(done => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}

/** The transcript could not be written, so the message was not sent on. */
class Unkept extends Error {}

/** The tool sends only callbacks. */
function isFromTool(purpose: RequestEvent['purpose']): boolean {
  return purpose === 'callback';
}

export class Forwarder {
  /** Messages to be passed on, by thread and direction. */
  readonly #messages = new Queues();
  /** Responses that are being written, by thread and direction. */
  readonly #responses = new Queues();

  constructor(
    readonly log: Log,
    private readonly client: HttpClient,
  ) {}

  /**
   * Keeps the messages of a thread in order, per direction (RT-SERIAL). Each waits for the response to the previous one, but at most
   * `PATIENCE_MS` after that one was sent: without a recorder, a slow response would not delay the others either.
   */
  enter(queue: string): { readonly turn: Promise<void>; leave(): void } {
    const turn = this.#messages.over(queue);
    const { promise: left, resolve: leave } = deferred();
    const end = turn.then(
      () =>
        new Promise<void>(resolve => {
          const cancel = systemClock.after(PATIENCE_MS, resolve);
          void left.then(cancel).then(resolve);
        }),
    );
    this.#messages.add(queue, end);
    return { turn, leave };
  }

  /** A response is being written until the returned function is called. */
  beginResponse(queue: string): () => void {
    const { promise, resolve } = deferred();
    this.#responses.add(queue, Promise.all([this.#responses.over(queue), promise]));
    return resolve;
  }

  /**
   * Waits for the responses of a side: it may send its next message right after its response, and the message must not be passed on
   * first, or a callback would seem to precede its acknowledgement (TOOL-ACK).
   */
  async responsesWritten(queue: string): Promise<void> {
    await new Promise(setImmediate); // a response that arrived in this tick may not have been read yet
    await this.#responses.over(queue);
  }

  received(about: About, message: Message): RecordedRequest {
    return this.#record(about, isFromTool(about.purpose) ? 'tool-side' : 'runtime-side', message);
  }

  /**
   * Sends a message on once, after it was recorded. A message that could not be recorded is not sent.
   * @throws TransportError without a response; {@link Unkept}.
   */
  async send(about: About, outgoing: Outgoing): Promise<HttpAnswer> {
    const hop = isFromTool(about.purpose) ? 'runtime-side' : 'tool-side';
    const recorded = this.#record(about, hop, outgoing);
    try {
      await this.log.kept().catch(cause => {
        throw new Unkept('the transcript could not be written', { cause });
      });
      const { method, url, headers, body, signal } = outgoing;
      const answer = await this.client.send({
        ...{ method, url, headers, read: about.purpose === 'discovery' ? TOOLSET : ACKNOWLEDGEMENT },
        timeoutMs: 0, // the sender has its own timeout
        ...(body && { body: body.bytes }),
        ...(signal && { signal }),
      });
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
}

const UNKEPT = { phase: 'transcript', code: 'UNWRITABLE' };

/** A response for the log. An encoded body is omitted, because secrets could not be redacted in it. */
function responseOf({ headers, body }: HttpAnswer) {
  const isReadable = body.length > 0 && headers['content-encoding'] === undefined;
  return { headers: { ...headers }, body: isReadable ? new Content(body) : undefined };
}

/** The top-level members of a message; empty if it is not a JSON object. */
export function fieldsOf(body: Content | undefined): Readonly<Record<string, unknown>> {
  return body?.json.ok && isRecord(body.json.value) ? body.json.value : {};
}

export function stringIn(body: Content | undefined, name: string): string | undefined {
  const value = fieldsOf(body)[name];
  return typeof value === 'string' ? value : undefined;
}

/** Replaces a string member of a JSON object and leaves all other bytes unchanged. */
export function withString(body: Content, name: string, value: string): Content {
  const bytes = Buffer.from(withStringMember(decodeUtf8(body.bytes) ?? '', name, value));
  const { json } = body;
  return json.ok && isRecord(json.value)
    ? Content.withJson(bytes, { ...json, value: { ...json.value, [name]: value } })
    : new Content(bytes);
}

/** Hop-by-hop headers (RFC 9110, 7.6.1), and those that we write ourselves; we request no encoding (threats, row 16). */
const OURS = new Set(
  'accept-encoding connection content-length expect host keep-alive origin proxy-authenticate proxy-authorization'
    .concat(' proxy-connection te trailer transfer-encoding upgrade')
    .split(' '),
);

function flatHeaders(headers: IncomingHttpHeaders): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

function passedHeaders(headers: Headers): Headers {
  const named = (headers['connection'] ?? '').toLowerCase().split(/\s*,\s*/);
  return without(headers, name => OURS.has(name) || named.includes(name));
}

/** Removes credentials if the URL has another origin than they are meant for (threats, row 12). */
function headersFor(url: string, origin: string, headers: Headers) {
  const isOwn = URL.canParse(url) && new URL(url).origin === origin;
  const withheld = isOwn ? [] : Object.keys(headers).filter(name => !isPlainHeader(name));
  return { headers: without(headers, name => withheld.includes(name)), withheld };
}

function without(headers: Headers, isLeftOut: (name: string) => boolean): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isLeftOut(name)));
}

export function contentOf({ body }: Pick<Incoming, 'body'>): Content | undefined {
  return body.length > 0 ? new Content(body) : undefined;
}

interface Destination {
  readonly url: string;
  readonly body: Content | undefined;
  /** Origin for which the headers are meant; default: any. */
  readonly origin?: string;
}

/** A received message, recorded unchanged; its sender may disconnect before the response. */
export class Received {
  readonly #recorded: RecordedRequest;
  readonly #place: ReturnType<Forwarder['enter']> | null;
  readonly #gone = new AbortController();
  #isOver = false;

  constructor(
    private readonly forwarder: Forwarder,
    private readonly incoming: Incoming,
    readonly about: About,
    body: Content | undefined,
  ) {
    const { method, target: url, headers } = incoming;
    this.#recorded = forwarder.received(about, { method, url, headers: flatHeaders(headers), body });
    const queue = this.#queueTo(isFromTool(about.purpose) ? 'runtime' : 'tool');
    this.#place = queue === null ? null : forwarder.enter(queue);
    incoming.onGone?.(() => {
      this.#broken('ECONNRESET');
      this.#gone.abort();
    });
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get headers(): Headers {
    return passedHeaders(flatHeaders(this.incoming.headers));
  }

  /** Sends the message on in its turn, and passes the response back unchanged, without retries or checks. */
  async passOn({ url, body, origin }: Destination): Promise<Reply> {
    const { headers, withheld } =
      origin === undefined ? { headers: this.headers, withheld: [] } : headersFor(url, origin, this.headers);
    if (withheld.length > 0)
      this.forwarder.warn(`withheld from another origin than the tool's: ${withheld.join(', ')}`, this.about);
    await this.#turn();
    try {
      const outgoing = { method: 'POST', url, headers, body, signal: this.gone } as const;
      return this.answerAs(await this.forwarder.send(this.about, outgoing));
    } catch (error) {
      return this.failed(error);
    }
  }

  /** @param recorded the body for the log, if it is not the text */
  answer(answer: Answer, recorded?: Content): Answer {
    const { status, headers = {}, body } = answer;
    const content = recorded ?? (typeof body === 'string' ? new Content(Buffer.from(body)) : undefined);
    this.#end(() => this.#recorded.answered(status, { headers: { ...headers }, body: content }));
    const queue = this.#queueTo(isFromTool(this.about.purpose) ? 'tool' : 'runtime');
    return queue === null ? answer : { ...answer, sent: this.forwarder.beginResponse(queue) };
  }

  /** Responds as the other side did. @param body replaces its body */
  answerAs(answer: HttpAnswer, body?: Content): Reply {
    const { status, headers } = answer;
    const bytes = body?.bytes ?? answer.body;
    const recorded = body ?? responseOf(answer).body;
    return this.answer({ status, headers: passedHeaders(headers), body: bytes }, recorded);
  }

  /**
   * Reports a missing response: a broken connection breaks ours, other errors get a status. Untrusted text is not repeated (threats, row
   * 28).
   */
  failed(error: unknown): Reply {
    if (error instanceof Unkept)
      return this.answer({ status: 503, body: 'The recorder could not write its transcript.\n' });
    if (!(error instanceof TransportError)) throw error;
    const { phase, code } = error;
    const isReset = code === 'ECONNRESET' && (phase === 'send' || phase === 'answer');
    if (isReset || code === 'ABORTED') return this.#broken('ECONNRESET'); // the requester disconnected
    const whom = isFromTool(this.about.purpose) ? 'runtime' : 'tool';
    return this.answer({ status: 502, body: `The recorder got no answer from the ${whom}: ${code}.\n` });
  }

  /** Waits for the previous messages, and for the responses of the sender. */
  async #turn(): Promise<void> {
    const queue = this.#queueTo(isFromTool(this.about.purpose) ? 'runtime' : 'tool');
    await this.#place?.turn;
    if (queue !== null) await this.forwarder.responsesWritten(queue);
  }

  /** The queue of the thread in one direction; null without a thread. */
  #queueTo(side: 'runtime' | 'tool'): string | null {
    const { thread } = this.about;
    return thread === undefined ? null : JSON.stringify([side, thread]);
  }

  #broken(code: string): 'reset' {
    this.#end(() => this.#recorded.broken('answer', code));
    return 'reset';
  }

  #end(record: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    record();
    this.#place?.leave();
  }
}
