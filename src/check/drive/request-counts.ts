import type { RequestEvent } from '../../events/events.js';
import { LIMITS } from '../../util/limits.js';

/** Which requests of a scenario are open, and how many there were. Counted, so that each event costs the same. */
export class RequestCounts {
  /** Requests without an end, by id. */
  readonly #open = new Map<string, RequestEvent>();
  /** How many requests were answered or broken off. */
  readonly #ended = new Map<RequestEvent['purpose'], number>();
  #ofRuntime = 0;

  begin(request: RequestEvent): void {
    this.#open.set(request.leg, request);
    if (request.from === 'runtime') this.#ofRuntime++;
  }

  /** Whether this is an open callback. */
  isCallback(id: string): boolean {
    return this.#open.get(id)?.purpose === 'callback';
  }

  /** Takes the response to a request, or its broken connection. */
  end(id: string): void {
    const purpose = this.#open.get(id)?.purpose;
    if (purpose !== undefined && this.#open.delete(id)) this.#ended.set(purpose, this.ended(purpose) + 1);
  }

  /** Takes a request to the model, which is no event. */
  addToModel(): void {
    this.#ofRuntime++;
  }

  /** How many requests with this purpose have ended (response or broken connection). */
  ended(purpose: RequestEvent['purpose']): number {
    return this.#ended.get(purpose) ?? 0;
  }

  /** Whether the runtime has answered all messages of the tools. */
  get areToolsAnswered(): boolean {
    return ![...this.#open.values()].some(({ from }) => from === 'tool');
  }

  /** Whether the runtime sent more requests, to tools and to the model, than a scenario may need. */
  get areTooMany(): boolean {
    return this.#ofRuntime > LIMITS.scenarioRequests.value;
  }
}
