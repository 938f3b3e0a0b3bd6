import { Content } from '../events/content.js';
import type { Body, RequestEvent } from '../events/events.js';
import { type Log, loggedBody, RecordedRequest, ServedRequest } from '../events/log.js';
import { flatHeaders } from '../http/body.js';
import type { HttpAnswer, HttpClient, HttpRequest, ReadLimit } from '../http/client.js';
import type { Answer, Incoming, Reply } from '../http/route.js';
import { TransportError } from '../http/transport-error.js';
import { finishedWithin } from '../system/clock.js';
import { isPlainHeader } from '../util/headers.js';
import { LIMITS } from '../util/limits.js';

type Headers = Readonly<Record<string, string>>;

/** The purpose of a message, with its call keys and thread, as far as they are known. */
type About = Pick<RequestEvent, 'purpose' | 'calls' | 'thread'>;

interface Outgoing extends Pick<HttpRequest, 'method' | 'url' | 'signal'> {
  readonly headers: Headers;
  readonly body?: Body | undefined;
}

const TOOLSET: ReadLimit = { maxBytes: LIMITS.toolsetBytes.value, opaque: true };

/** For every other response the head is enough: the part of its body that arrives within a second is passed on. */
const ACKNOWLEDGEMENT: ReadLimit = {
  maxBytes: LIMITS.forwardedBytes.value,
  opaque: true,
  partial: true,
  withinMs: 1_000,
};

/** How long a message waits for the response to the previous one in its thread, in ms. */
const PATIENCE_MS = 100;

/** Promises in queues: each waits for the one before it. Without a name, nothing waits. */
class Queues {
  readonly #ends = new Map<string, Promise<unknown>>();

  /** Adds to the end of a queue. @param end resolves when the next one may begin */
  add(queue: string | null, end: Promise<unknown>): void {
    if (queue === null) return;
    this.#ends.set(queue, end);
    void end.then(() => {
      if (this.#ends.get(queue) === end) this.#ends.delete(queue);
    });
  }

  /** Resolves when everything in the queue has ended. */
  async over(queue: string | null): Promise<void> {
    if (queue !== null) await this.#ends.get(queue);
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
class TranscriptWriteError extends Error {}

/** Where messages come from and go to: the tool sends only callbacks. */
function sidesOf(purpose: RequestEvent['purpose']) {
  return purpose === 'callback'
    ? ({ from: 'tool', to: 'runtime' } as const)
    : ({ from: 'runtime', to: 'tool' } as const);
}

/** @param end the side of this recorder on which the message is seen */
function factOf(about: About, end: 'from' | 'to') {
  const sides = sidesOf(about.purpose);
  return { hop: `${sides[end]}-side`, ...sides, ...about } as const;
}

/** A message's place among those of its thread: `turn` resolves when it may be sent. */
interface PlaceInQueue {
  readonly turn: Promise<void>;
  leave(): void;
}

/** Records messages and sends them on. */
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
  enter(queue: string | null): PlaceInQueue {
    if (queue === null) return { turn: Promise.resolve(), leave() {} };
    const turn = this.#messages.over(queue);
    const { promise: left, resolve: leave } = deferred();
    this.#messages.add(
      queue,
      turn.then(() => finishedWithin(left, PATIENCE_MS)),
    );
    return { turn, leave };
  }

  /** A response is being written until the returned function is called. */
  beginResponse(queue: string | null): () => void {
    const { promise, resolve } = deferred();
    this.#responses.add(queue, Promise.all([this.#responses.over(queue), promise]));
    return resolve;
  }

  /**
   * Waits for the responses to a side: it may send its next message right after its response, and the message must not be passed on
   * first, or a callback would seem to precede its acknowledgement (TOOL-ACK).
   */
  async responsesWritten(queue: string | null): Promise<void> {
    await new Promise(setImmediate); // a response that arrived in this tick may not have been read yet
    await this.#responses.over(queue);
  }

  /** Records a request as its sender sent it. @param more its body, and what the log must not show as received */
  record(
    incoming: Incoming,
    about: About,
    more: Partial<Pick<RequestEvent, 'body' | 'url' | 'headers'>>,
  ): ServedRequest {
    return new ServedRequest(this.log, incoming, { ...factOf(about, 'from'), ...more });
  }

  /** Records a message that is to be passed on. */
  receive(incoming: Incoming, about: About, body?: Body): Received {
    return new Received(this, incoming, about, body);
  }

  /**
   * Sends a message on once, after it was recorded. A message that could not be recorded is not sent.
   * @throws TransportError without a response; {@link TranscriptWriteError}.
   */
  async send(about: About, outgoing: Outgoing): Promise<HttpAnswer> {
    const { method, url, headers, body, signal } = outgoing;
    const recorded = new RecordedRequest(this.log, { ...factOf(about, 'to'), method, url, headers, body });
    await this.log.stored().catch(cause => {
      recorded.recordBroken('transcript', 'UNWRITABLE');
      throw new TranscriptWriteError('the transcript could not be written', { cause });
    });
    return recorded.recordSending(
      this.client.send({
        method,
        url,
        headers,
        read: about.purpose === 'discovery' ? TOOLSET : ACKNOWLEDGEMENT,
        timeoutMs: 0, // the sender has its own timeout
        ...(body && { body: body.bytes }),
        ...(signal && { signal }),
      }),
    );
  }

  warn(message: string, { calls, thread }: Pick<About, 'calls' | 'thread'> = {}): void {
    this.log.emit({ kind: 'warned', message, calls, thread });
  }
}

/** Hop-by-hop headers (RFC 9110, 7.6.1), and those that we write ourselves; we request no encoding (threats, row 16). */
const OURS = new Set(
  'accept-encoding connection content-length expect host keep-alive origin proxy-authenticate proxy-authorization'
    .concat(' proxy-connection te trailer transfer-encoding upgrade')
    .split(' '),
);

/** The headers of a message that are passed on with it. */
export function passedHeaders(headers: Headers): Headers {
  const named = (headers['connection'] ?? '').toLowerCase().split(/\s*,\s*/);
  return without(headers, name => OURS.has(name) || named.includes(name));
}

function without(headers: Headers, isLeftOut: (name: string) => boolean): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isLeftOut(name)));
}

/** A received message, recorded unchanged; its sender may disconnect before the response. */
class Received {
  readonly #recorded: ServedRequest;
  readonly #place: PlaceInQueue;
  readonly #gone = new AbortController();
  #isOver = false;

  constructor(
    private readonly forwarder: Forwarder,
    private readonly incoming: Incoming,
    readonly about: About,
    body: Body | undefined,
  ) {
    this.#recorded = forwarder.record(incoming, about, { body });
    this.#place = forwarder.enter(this.#queueTo('to'));
    incoming.onGone(() => {
      this.#broken();
      this.#gone.abort();
    });
  }

  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get headers(): Headers {
    return passedHeaders(this.incoming.headers);
  }

  /**
   * Sends the message on in its turn, and passes the response back unchanged, without retries or checks.
   * @param origin for which the headers are meant; default: any
   */
  async passOn(url: string, body: Body | undefined, origin?: string): Promise<Reply> {
    const headers = this.#headersFor(url, origin);
    await this.#place.turn;
    await this.forwarder.responsesWritten(this.#queueTo('to'));
    try {
      const outgoing = { method: 'POST', url, headers, body, signal: this.gone } as const;
      return this.answerAs(await this.forwarder.send(this.about, outgoing));
    } catch (error) {
      return this.failed(error);
    }
  }

  /** @param recorded the body for the log, if it is not the text */
  answer(answer: Answer, recorded?: Body): Answer {
    const { status, headers = {}, body } = answer;
    const content = recorded ?? (typeof body === 'string' ? new Content(Buffer.from(body)) : undefined);
    this.#end(() =>
      this.#recorded.recordResponse(status, { headers: { ...flatHeaders(headers) }, body: content }),
    );
    return { ...answer, sent: this.forwarder.beginResponse(this.#queueTo('from')) };
  }

  /** Responds as the other side did. @param body replaces its body */
  answerAs(answer: HttpAnswer, body?: Body): Reply {
    const { status, cookies } = answer;
    const headers = { ...passedHeaders(answer.headers), ...(cookies && { 'set-cookie': cookies }) };
    return this.answer({ status, headers, body: body?.bytes ?? answer.body }, body ?? loggedBody(answer));
  }

  /**
   * Reports a missing response: a broken connection breaks ours, other errors get a status. Untrusted text is not repeated (threats, row
   * 28).
   */
  failed(error: unknown): Reply {
    if (error instanceof TranscriptWriteError)
      return this.answer({ status: 503, body: 'The recorder could not write its transcript.\n' });
    if (!(error instanceof TransportError)) throw error;
    const { phase, code } = error;
    const isReset = code === 'ECONNRESET' && (phase === 'send' || phase === 'answer');
    if (isReset || code === 'ABORTED') return this.#broken(); // the requester disconnected
    const { to } = sidesOf(this.about.purpose);
    return this.answer({ status: 502, body: `The recorder got no answer from the ${to}: ${code}.\n` });
  }

  /** Withholds credentials from another origin than they are meant for (threats, row 12). */
  #headersFor(url: string, origin?: string): Headers {
    if (origin === undefined || (URL.canParse(url) && new URL(url).origin === origin)) return this.headers;
    const withheld = Object.keys(this.headers).filter(name => !isPlainHeader(name));
    if (withheld.length > 0)
      this.forwarder.warn(`withheld from another origin than the tool's: ${withheld.join(', ')}`, this.about);
    return without(this.headers, name => withheld.includes(name));
  }

  /** The queue of the thread in one direction; null without a thread. */
  #queueTo(end: 'from' | 'to'): string | null {
    const { purpose, thread } = this.about;
    return thread === undefined ? null : JSON.stringify([sidesOf(purpose)[end], thread]);
  }

  #broken(): 'reset' {
    this.#end(() => this.#recorded.recordBroken('answer', 'ECONNRESET'));
    return 'reset';
  }

  #end(record: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    record();
    this.#place.leave();
  }
}
