import { Content } from '../exchange/content.js';
import type { Answer, Incoming } from '../transport/server.js';
import type { Desk } from './desk.js';
import type { Place } from './lanes.js';
import { isFromTool, type Leg, laneTo, type Matter, partiesOf, tellRequest } from './leg.js';
import { flatHeaders } from './passed-headers.js';

/** A message that came in, told as it was; whoever waits for its answer may go away meanwhile. */
export class Arrival {
  readonly #leg: Leg;
  readonly #place: Place | null;
  readonly #desk: Desk;
  readonly #gone = new AbortController();
  #isOver = false;

  /** @param body as it came; undefined where there is none */
  constructor(
    desk: Desk,
    readonly incoming: Incoming,
    readonly matter: Matter,
    readonly body: Content | undefined,
  ) {
    const { method, target: url, headers } = incoming;
    const isTools = isFromTool(matter.purpose);
    const hop = isTools ? 'tool-side' : 'runtime-side';
    this.#leg = tellRequest(desk.log, matter, { hop, method, url, headers: flatHeaders(headers), body });
    const lane = laneTo(partiesOf(matter.purpose).to, matter);
    this.#place = lane === null ? null : desk.lanes.enter(lane);
    this.#desk = desk;
    incoming.onGone?.(() => {
      this.broken('ECONNRESET');
      this.#gone.abort();
    });
  }

  /** Resolves when it may go on: after what came before it, and after the answers that its sender has given. */
  async turn(): Promise<void> {
    const { handovers } = this.#desk;
    const lane = laneTo(partiesOf(this.matter.purpose).to, this.matter);
    await this.#place?.turn;
    if (lane !== null) await handovers.over(lane);
  }

  /** Aborted where nobody waits for the answer any more. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** @param told what is told of the answer's body, where that is not the body itself */
  answer(answer: Answer, told?: Content): Answer {
    const { status, headers = {}, body } = answer;
    const content = told ?? (typeof body === 'string' ? new Content(Buffer.from(body)) : undefined);
    this.#end(() => this.#leg.answered({ status, headers, body: content }));
    const lane = laneTo(partiesOf(this.matter.purpose).from, this.matter);
    return lane === null ? answer : { ...answer, sent: this.#desk.handovers.begin(lane) };
  }

  broken(code: string): 'reset' {
    this.#end(() => this.#leg.broken('answer', code));
    return 'reset';
  }

  #end(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    tell();
    this.#place?.leave();
  }
}

/** The bytes of a message; undefined where there are none. */
export function contentOf({ body }: Pick<Incoming, 'body'>): Content | undefined {
  return body.length > 0 ? new Content(body) : undefined;
}
