import { Content } from '../../exchange/content.js';
import type { Log } from '../../exchange/log.js';
import type { LocalReply } from './local-call.js';
import type { Wire } from './wire.js';

/** What is told of a call besides what is decided about it. */
export interface Told {
  readonly key: string;
  readonly thread: string;
  /** Whether there is such an operation at all. */
  readonly isOffered: () => boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** What the tool understood: its operation, arguments and ids. */
  readonly body: Content;
}

/** One call as those hear of it who look on: that it came, that it was called off, how it ended. */
export class ToldCall {
  readonly #leg: string;
  #isCancelled = false;

  constructor(
    private readonly log: Log,
    private readonly wire: Wire,
    private readonly told: Told,
  ) {
    this.#leg = log.leg();
    const { headers, body } = told;
    log.emit({
      purpose: 'invocation',
      body,
      ...this.#request(this.#leg, wire.callMethod),
      headers: { ...headers },
    });
  }

  /** By whoever made it. */
  cancelled(): void {
    this.#isCancelled = true;
    this.log.emit({
      purpose: 'cancel',
      headers: {},
      ...this.#request(this.log.leg(), this.wire.cancelMethod),
    });
  }

  /** @returns the answer as its wire has it, JSON; undefined where none goes out. */
  ended(reply: LocalReply): unknown {
    const about = { leg: this.#leg, ...this.#about() };
    if (reply.kind === 'silence' || (this.#isCancelled && this.wire.dropsCancelled)) {
      const code = reply.kind === 'silence' ? 'PLANNED' : 'CANCELLED';
      this.log.emit({ kind: 'broken', phase: 'answer', code, ...about });
      return undefined;
    }
    const { body, warnings } = this.wire.write(reply, this.told.isOffered);
    for (const message of warnings) this.log.emit({ kind: 'warned', message, ...this.#about() });
    this.log.emit({ kind: 'response', status: 200, headers: {}, body: Content.ofJson(body), ...about });
    return body;
  }

  #request(leg: string, method: string) {
    const { dialect, url } = this.wire;
    const from = { kind: 'request', leg, from: 'client', to: 'tool', attempt: 1, method, url } as const;
    return { ...from, ...(dialect && { dialect }), ...this.#about() };
  }

  #about() {
    return { calls: [this.told.key], thread: this.told.thread };
  }
}
