import type { IncomingHttpHeaders } from 'node:http';
import { Content } from '../events/content.js';
import type { RecordedRequest } from '../events/log.js';
import { type HttpAnswer, TransportError } from '../http/client.js';
import type { Answer, Incoming, Reply } from '../http/route.js';
import { isPlainHeader } from '../util/redact.js';
import { type About, type Forwarder, isFromTool, responseOf, Unkept } from './forwarder.js';

type Headers = Readonly<Record<string, string>>;

/** Headers of one connection (RFC 9110, 7.6.1), and those we write ourselves; we request no encoding (threats, row 16). */
const OURS = new Set(
  'accept-encoding connection content-length expect host keep-alive origin proxy-authenticate proxy-authorization'
    .concat(' proxy-connection te trailer transfer-encoding upgrade')
    .split(' '),
);

/** Names in lower case, each once. */
function flatHeaders(headers: IncomingHttpHeaders): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** The headers that the sender meant for the other side. */
function passedHeaders(headers: Headers): Headers {
  const named = (headers['connection'] ?? '').toLowerCase().split(/\s*,\s*/);
  return without(headers, name => OURS.has(name) || named.includes(name));
}

/** Headers without credentials, which were given for one origin (threats, row 12), if the URL is elsewhere. */
function headersFor(url: string, origin: string, headers: Headers) {
  const isOwn = URL.canParse(url) && new URL(url).origin === origin;
  const withheld = isOwn ? [] : Object.keys(headers).filter(name => !isPlainHeader(name));
  return { headers: without(headers, name => withheld.includes(name)), withheld };
}

function without(headers: Headers, isLeftOut: (name: string) => boolean): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isLeftOut(name)));
}

/** The bytes of a message; undefined without any. */
export function contentOf({ body }: Pick<Incoming, 'body'>): Content | undefined {
  return body.length > 0 ? new Content(body) : undefined;
}

/** Where a message goes on to. */
interface Destination {
  readonly url: string;
  readonly body: Content | undefined;
  /** The origin that its headers are meant for; default: any. */
  readonly origin?: string;
}

/** A message that came in, recorded as it came; its sender may go away before the answer. */
export class Received {
  readonly #recorded: RecordedRequest;
  readonly #place: ReturnType<Forwarder['queues']['enter']> | null;
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
    this.#place = queue === null ? null : forwarder.queues.enter(queue);
    incoming.onGone?.(() => {
      this.#broken('ECONNRESET');
      this.#gone.abort();
    });
  }

  /** Aborted when the requester is gone. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** The headers for the other side. */
  get headers(): Headers {
    return passedHeaders(flatHeaders(this.incoming.headers));
  }

  /** Sends it on in its turn, and answers with the answer: no retry, no judgement. */
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
    return queue === null ? answer : { ...answer, sent: this.forwarder.barrier.begin(queue) };
  }

  /** Answers as the other side did. @param body in place of its body */
  answerAs(answer: HttpAnswer, body?: Content): Reply {
    const { status, headers } = answer;
    const bytes = body?.bytes ?? answer.body;
    const recorded = body ?? responseOf(answer).body;
    return this.answer({ status, headers: passedHeaders(headers), body: bytes }, recorded);
  }

  /** No answer came: a broken connection breaks ours, anything else has a status. Nothing foreign is repeated (threats, row 28). */
  failed(error: unknown): Reply {
    if (error instanceof Unkept)
      return this.answer({ status: 503, body: 'The recorder could not write its transcript.\n' });
    if (!(error instanceof TransportError)) throw error;
    const { phase, code } = error;
    const isReset = code === 'ECONNRESET' && (phase === 'send' || phase === 'answer');
    if (isReset || code === 'ABORTED') return this.#broken('ECONNRESET'); // aborted: the requester is gone
    const whom = isFromTool(this.about.purpose) ? 'runtime' : 'tool';
    return this.answer({ status: 502, body: `The recorder got no answer from the ${whom}: ${code}.\n` });
  }

  /** After what came before it, and after the answers of its sender. */
  async #turn(): Promise<void> {
    const queue = this.#queueTo(isFromTool(this.about.purpose) ? 'runtime' : 'tool');
    await this.#place?.turn;
    if (queue !== null) await this.forwarder.barrier.over(queue);
  }

  /** The queue of its thread in one direction; null without a thread. */
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
