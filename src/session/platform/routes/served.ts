import { Content } from '../../../exchange/content.js';
import type { RequestEvent } from '../../../exchange/events.js';
import type { Log } from '../../../exchange/log.js';
import { redactHeaders } from '../../../text/redact.js';
import type { Answer, Head, Reply } from '../../../transport/server.js';

interface About {
  readonly purpose: RequestEvent['purpose'];
  /** The session, where there is one. */
  readonly thread?: string | undefined;
  /** Keys of the calls it concerns. */
  readonly calls?: readonly string[] | undefined;
}

/** A request that a client makes to the platform, and what it is answered, as facts; its key is kept nowhere (threats, row 25). */
export class Served {
  readonly #leg: string;
  readonly #about: { readonly calls?: string[]; readonly thread?: string };

  constructor(
    private readonly log: Log,
    incoming: Head & { readonly body: Uint8Array },
    { purpose, thread, calls }: About,
  ) {
    this.#about = { ...(calls && { calls: [...calls] }), ...(thread !== undefined && { thread }) };
    this.#leg = log.leg();
    log.emit({
      kind: 'request',
      leg: this.#leg,
      from: 'client',
      to: 'platform',
      purpose,
      dialect: 'session',
      method: incoming.method,
      url: incoming.target,
      headers: redactHeaders(namesAndValues(incoming)),
      attempt: 1,
      ...this.#about,
      ...(incoming.body.length > 0 && { body: new Content(incoming.body) }),
    });
  }

  /** An answer without a body. */
  empty(status: number): Answer {
    return this.#answer({ status });
  }

  json(status: number, value: unknown, headers: Answer['headers'] = {}): Answer {
    return this.#answer(jsonAnswer(status, value, headers));
  }

  /** Whoever asked did not wait for the answer. */
  gone(): Reply {
    this.log.emit({ kind: 'broken', leg: this.#leg, phase: 'answer', code: 'ECONNRESET', ...this.#about });
    return 'reset';
  }

  #answer(answer: Answer): Answer {
    const { status, body } = answer;
    const content = typeof body === 'string' ? { body: new Content(Buffer.from(body)) } : {};
    this.log.emit({ kind: 'response', leg: this.#leg, status, headers: {}, ...this.#about, ...content });
    return answer;
  }
}

function jsonAnswer(status: number, value: unknown, headers: Answer['headers']): Answer {
  return { status, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(value) };
}

function namesAndValues({ headers }: Head): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}
