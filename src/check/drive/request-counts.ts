import type { RequestEvent } from '../../events/events.js';

/** Which requests of a scenario are open, and how many have ended. Counted, so that each event costs the same. */
export class RequestCounts {
  /** Requests without an end, by id. */
  readonly #open = new Map<string, RequestEvent>();
  /** How many requests were answered or broken off. */
  readonly #ended = new Map<RequestEvent['purpose'], number>();

  begin(request: RequestEvent): void {
    this.#open.set(request.leg, request);
  }

  /** Takes the response to a request, or its broken connection. */
  end(id: string): void {
    const purpose = this.#open.get(id)?.purpose;
    if (purpose !== undefined && this.#open.delete(id)) this.#ended.set(purpose, this.ended(purpose) + 1);
  }

  /** How many requests with this purpose have ended. */
  ended(purpose: RequestEvent['purpose']): number {
    return this.#ended.get(purpose) ?? 0;
  }

  /** Whether the runtime has answered all messages of the tools. */
  get areToolsAnswered(): boolean {
    return ![...this.#open.values()].some(({ from }) => from === 'tool');
  }
}
