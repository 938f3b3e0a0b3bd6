import type { EndEvent, Event, RequestEvent } from '../../events/events.js';
import type { Log } from '../../events/log.js';
import { RoundTrip } from '../../events/round-trips.js';
import type { Clock } from '../../system/clock.js';
import { isConnectionRefused, originOf } from '../server-runs.js';

/** What the events of a check show of its tool. */
export class ToolState {
  /** Whether our last finished request got no response. */
  isBroken = false;
  /** Whether it refused a connection after it had answered: another program may answer later. */
  isGone = false;
  /** When the server exited, on the clock; null while it runs. */
  exitedAt: number | null = null;
  hasCallback = false;
  /** Whether it has answered an invocation. */
  hasAnswer = false;
  readonly #open = new Map<string, RequestEvent>();
  /** The origins that have answered. */
  readonly #answered: Set<string>;
  readonly close: () => void;

  /** @param base has answered the discovery */
  constructor(
    log: Log,
    private readonly clock: Clock,
    base: string,
    private readonly onEnd: () => void,
  ) {
    this.#answered = new Set([new URL(base).origin]);
    this.close = log.subscribe(event => this.#read(event));
  }

  get hasEnded(): boolean {
    return this.isGone || this.exitedAt !== null;
  }

  #read(event: Event): void {
    if (event.kind === 'request') this.#readRequest(event);
    else if (event.kind === 'response' || event.kind === 'broken') this.#readEnd(event);
    else if (event.kind === 'exited') {
      this.exitedAt = this.clock.runnable();
      this.onEnd();
    }
  }

  #readRequest(event: RequestEvent): void {
    if (event.purpose !== 'callback') this.#open.set(event.leg, event);
    else this.hasCallback ||= event.calls !== undefined; // not for one to a wrong address
  }

  #readEnd(event: EndEvent): void {
    const request = this.#open.get(event.leg);
    if (!request) return;
    this.#open.delete(event.leg);
    this.isBroken = event.kind === 'broken';
    if (request.purpose === 'choice') return; // another server may serve the response_url
    const trip = new RoundTrip(request, event);
    if (!this.isBroken) this.#answered.add(originOf(trip));
    else if (isConnectionRefused(trip) && this.#answered.has(originOf(trip))) {
      this.isGone = true;
      this.onEnd();
    }
    if (request.purpose === 'invocation' && !this.isBroken) this.hasAnswer = true;
  }
}
