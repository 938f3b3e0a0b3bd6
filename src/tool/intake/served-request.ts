import type { Content } from '../../exchange/content.js';
import type { RequestEvent } from '../../exchange/events.js';
import type { Log } from '../../exchange/log.js';
import type { Answer, Incoming } from '../../transport/server.js';

/** Which call or thread a request is about, as far as that is known. */
export interface Concern {
  readonly calls?: string[];
  readonly thread?: string;
}

export interface Served {
  readonly purpose: RequestEvent['purpose'];
  readonly about: Concern;
  readonly body?: Content;
  readonly attempt?: number;
}

/** A request that a runtime, or its user, makes to us, and what it is answered, as facts. */
export class ServedRequest {
  readonly #about: Concern;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly #leg: string;

  constructor(
    private readonly log: Log,
    incoming: Incoming,
    { purpose, about, body, attempt = 1 }: Served,
  ) {
    this.#about = about;
    this.headers = headersOf(incoming);
    this.#leg = log.leg();
    log.emit({
      kind: 'request',
      leg: this.#leg,
      from: purpose === 'consent' ? 'unknown' : 'runtime',
      to: 'tool',
      purpose,
      method: incoming.method,
      url: incoming.target,
      headers: this.headers,
      attempt,
      calls: about.calls,
      thread: about.thread,
      body,
    });
  }

  answer(status: number, more?: Omit<Answer, 'status'>): Answer {
    this.#answered(status);
    return more ? { status, ...more } : { status };
  }

  /** As {@link answer}, where what is said is worth telling: what a runtime does next follows from it. */
  answerWith(body: Content, answer: Answer): Answer {
    this.#answered(answer.status, lowerCased(answer.headers), body);
    return answer;
  }

  #answered(status: number, headers: Headers = NO_HEADERS, body?: Content): void {
    const { calls, thread } = this.#about;
    this.log.emit({ kind: 'response', leg: this.#leg, status, headers, calls, thread, body });
  }

  /** The connection ended without an answer, as planned. */
  broken(code: string): void {
    this.log.emit({ kind: 'broken', leg: this.#leg, phase: 'answer', code, ...this.#about });
  }
}

type Headers = Readonly<Record<string, string>>;

const NO_HEADERS: Headers = Object.freeze({});

function lowerCased(headers: Headers = NO_HEADERS): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

/** Of a request; names in lower case. The very object, where nothing in it is a list: events hold on to it. */
export function headersOf({ headers }: Incoming): Readonly<Record<string, string>> {
  return isFlat(headers) ? headers : flattened(headers);
}

function isFlat(headers: Incoming['headers']): headers is Record<string, string> {
  for (const name in headers) if (typeof headers[name] !== 'string') return false;
  return true;
}

function flattened(headers: Incoming['headers']): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

/** Our own base URL, as whoever sent this reaches us: the guard has judged its Host. */
export function baseFor({ headers }: Incoming): string {
  return `http://${headers.host}`;
}
