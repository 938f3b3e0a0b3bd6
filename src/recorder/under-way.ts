import type { Incoming, Reply, Route } from '../transport/server.js';

/** Routes that know which requests they have not answered yet. */
export class UnderWay {
  readonly #replies = new Set<Promise<Reply>>();

  watch(route: Route): Route {
    return { ...route, handle: incoming => this.#note(route, incoming) };
  }

  /** Resolves once every request that has come in so far is over, however. */
  async over(): Promise<void> {
    await Promise.allSettled(this.#replies);
  }

  #note({ handle }: Route, incoming: Incoming): Promise<Reply> {
    const reply = Promise.resolve(handle(incoming));
    this.#replies.add(reply);
    const forget = () => void this.#replies.delete(reply);
    reply.then(forget, forget);
    return reply;
  }
}
