import type { Incoming } from '../../http/route.js';
import type { Instruction } from '../../protocol/driver.js';

/** An instruction that becomes a tool call of the model. */
export type ModelCall = Instruction<'invoke' | 'cancel-subscription'>;

/** The tool calls of one model message. An empty list ends the conversation; null means that the model is closed. */
export type ModelMessage = readonly ModelCall[] | null;

/** A request for the next message. */
interface Waiting {
  readonly allowsParallelCalls: boolean;
  readonly take: (message: ModelMessage) => void;
}

/** The id with which the model makes the call. */
export function callIdOf(call: ModelCall): string {
  return call.do === 'cancel-subscription' ? `cancel_${call.id}` : call.id;
}

/** The messages of the model. Calls added in one pass of the event loop are one message; it answers the oldest waiting request. */
export class ModelScript {
  /** The calls of the next message. */
  #batch: ModelCall[] = [];
  readonly #messages: (readonly ModelCall[])[] = [];
  readonly #waiting = new Set<Waiting>();
  /** The calls of the last message. */
  #lastCalls: readonly ModelCall[] = [];
  /** Whether the agent runs one call of a message and ignores the others. */
  #runsOneCall = false;
  /** `ended`: the message after the remaining ones is the last; `closed`: there are no messages any more. */
  #state: 'open' | 'ended' | 'closed' = 'open';
  #isOver = false;

  /** Whether an agent got the last message. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Adds a call to the next message. */
  addCall(call: ModelCall): void {
    if (this.#batch.push(call) > 1) return;
    setImmediate(() => {
      this.#messages.push(this.#batch);
      this.#batch = [];
      this.#serve();
    });
  }

  /**
   * Takes the ids of the calls whose results a request contains. It must contain those of all calls of the last message: calls without one
   * were ignored, and the model makes them again, one at a time.
   */
  receiveResults(ids: readonly string[]): void {
    const ignored = this.#lastCalls.filter(call => !ids.includes(callIdOf(call)));
    if (ignored.length === this.#lastCalls.length) return; // a request of another conversation
    this.#lastCalls = [];
    if (ignored.length === 0) return;
    this.#runsOneCall = true;
    this.#messages.unshift(ignored);
  }

  /** Answers the oldest waiting request with a text. */
  endTurn(): void {
    if (this.#waiting.size === 0) return;
    this.#messages.push([]);
    this.#serve();
  }

  /** Ends the conversation after the remaining messages. */
  end(): void {
    setImmediate(() => {
      if (this.#state === 'open') this.#state = 'ended';
      this.#serve();
    });
  }

  /** Ends the conversation at once, without the remaining messages. */
  close(): void {
    this.#messages.length = 0;
    this.#state = 'closed';
    this.#serve();
  }

  /** Resolves to the next message; to null if the request breaks off meanwhile. */
  next(allowsParallelCalls: boolean, incoming: Incoming): Promise<ModelMessage> {
    return new Promise(resolve => {
      const waiting = { allowsParallelCalls, take: resolve };
      this.#waiting.add(waiting);
      incoming.onGone(() => {
        if (this.#waiting.delete(waiting)) resolve(null);
      });
      this.#serve();
    });
  }

  #serve(): void {
    for (const waiting of this.#waiting) {
      const isLast = this.#messages.length === 0;
      if (isLast && this.#state === 'open') return;
      const message = isLast ? this.#lastMessage() : this.#nextMessage(waiting);
      this.#waiting.delete(waiting);
      this.#isOver ||= isLast;
      if (message !== null && message.length > 0) this.#lastCalls = message;
      waiting.take(message);
    }
  }

  #lastMessage(): ModelMessage {
    return this.#state === 'closed' ? null : [];
  }

  #nextMessage({ allowsParallelCalls }: Waiting): readonly ModelCall[] {
    const [message = []] = this.#messages.splice(0, 1);
    if ((allowsParallelCalls && !this.#runsOneCall) || message.length < 2) return message;
    this.#messages.unshift(message.slice(1));
    return message.slice(0, 1);
  }
}
