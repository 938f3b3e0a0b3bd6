import { createHash } from 'node:crypto';
import type { Incoming } from '../../../http/route.js';
import type { Instruction } from '../../../protocol/driver.js';
import type { ModelInput, ModelRequest } from './provider.js';

export type Invocation = Extract<Instruction, { do: 'invoke' }>;

interface Waiting {
  readonly allowsParallelCalls: boolean;
  readonly take: (message: Message) => void;
}

/** The invocations of one message; none: the end of the conversation; null: the model is closed. */
type Message = readonly Invocation[] | null;

/** The messages of the model. Invocations of one turn of the event loop are one message, which answers the oldest waiting request. */
export class Script {
  #turn: Invocation[] = [];
  readonly #messages: (readonly Invocation[])[] = [];
  readonly #waiting = new Set<Waiting>();
  #last: [] | null | undefined;

  addCall(invocation: Invocation): void {
    if (this.#turn.push(invocation) > 1) return;
    setImmediate(() => {
      this.#messages.push(this.#turn);
      this.#turn = [];
      this.#serve();
    });
  }

  /** Ends the conversation after the remaining messages. */
  end(): void {
    setImmediate(() => {
      this.#last ??= [];
      this.#serve();
    });
  }

  close(): void {
    this.#messages.length = 0;
    this.#last = null;
    this.#serve();
  }

  /** Resolves to the next message; to nothing if the request breaks off meanwhile. */
  next({ allowsParallelCalls }: ModelRequest, onGone: Incoming['onGone']): Promise<Message> {
    return new Promise(resolve => {
      const waiting = { allowsParallelCalls, take: resolve };
      this.#waiting.add(waiting);
      onGone?.(() => {
        if (this.#waiting.delete(waiting)) resolve(null);
      });
      this.#serve();
    });
  }

  #serve(): void {
    for (const waiting of this.#waiting) {
      const message = this.#messages.length > 0 ? this.#nextMessage(waiting) : this.#last;
      if (message === undefined) return;
      this.#waiting.delete(waiting);
      waiting.take(message);
    }
  }

  #nextMessage({ allowsParallelCalls }: Waiting): readonly Invocation[] {
    const [message = []] = this.#messages.splice(0, 1);
    if (allowsParallelCalls || message.length < 2) return message;
    this.#messages.unshift(message.slice(1));
    return message.slice(0, 1);
  }
}

/** Finds what is new in a request: each one repeats the conversation. */
export class Conversation {
  readonly #known = new Map<string, number>();
  #hasBegun = false;

  /** Ignores the first request: it precedes all calls. */
  newInputs(inputs: readonly ModelInput[]): readonly ModelInput[] {
    const added = this.newInputsOfOther(inputs);
    const isFirst = !this.#hasBegun;
    this.#hasBegun = true;
    return isFirst ? [] : added;
  }

  /** As {@link newInputs}, for a request that does not begin the conversation. */
  newInputsOfOther(inputs: readonly ModelInput[]): readonly ModelInput[] {
    const counts = new Map<string, number>();
    return inputs.filter(input => this.#isNew(keyOf(input), counts));
  }

  /** The same text may come again: an input is new if it occurs more often than in any request before. */
  #isNew(key: string, counts: Map<string, number>): boolean {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (count <= (this.#known.get(key) ?? 0)) return false;
    this.#known.set(key, count);
    return true;
  }
}

/** A digest, since a conversation may be large. */
function keyOf(input: ModelInput): string {
  return createHash('sha256').update(JSON.stringify(input)).digest('base64');
}
