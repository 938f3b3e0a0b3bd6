import type { Event, RequestEvent } from '../exchange/events.js';
import { ACK_SLOW_MS, ACK_TOLERANCE_MS } from '../exchange/exchange.js';
import type { Log } from '../exchange/log.js';
import { ownTime } from '../exchange/own-time.js';
import { isRecord } from '../text/is-record.js';
import type { Stimulus } from './call.js';

/** How one call was acknowledged, in ms since the start. */
interface Acknowledgement {
  readonly request: RequestEvent;
  endedAt: number;
  resultAt: number;
  /** What the toolset took before, in ms. */
  readonly usualMs: number;
}

/** Times the acknowledgements of a run as the rule does. */
export class Stopwatch {
  readonly #byLeg = new Map<string, Acknowledgement>();
  readonly #byKey = new Map<string, Acknowledgement>();
  #discovery: RequestEvent | undefined;
  #usualMs = 0;

  constructor(log: Log) {
    log.subscribe(event => this.#hear(event));
  }

  isAnswered(key: string): boolean {
    const seen = this.#byKey.get(key);
    return seen !== undefined && !Number.isNaN(seen.endedAt);
  }

  /** Beyond what the toolset takes, asked for just before and just now. */
  isLateAlone(key: string): boolean {
    const seen = this.#byKey.get(key);
    return seen !== undefined && isLate(seen, Math.min(seen.usualMs, this.#usualMs));
  }

  /** What was sent, each once, where the 200 was slow or came after the result. */
  late(): readonly Stimulus[] {
    const sent = [...this.#byKey.values()]
      .filter(seen => isLate(seen))
      .flatMap(({ request }) => stimulusOf(request));
    return [...new Map(sent.map(each => [JSON.stringify(each), each])).values()];
  }

  #hear(event: Event): void {
    if (event.kind === 'request' && event.purpose === 'invocation') this.#begin(event);
    else if (event.kind === 'request' && event.purpose === 'discovery') this.#discovery = event;
    else if (event.kind === 'response') this.#answer(event.leg, event.at);
    else if (event.kind === 'request' && event.purpose === 'callback') this.#call(event);
  }

  #begin(request: RequestEvent): void {
    const begun = { request, endedAt: Number.NaN, resultAt: Number.NaN, usualMs: this.#usualMs };
    this.#byLeg.set(request.leg, begun);
    for (const key of request.calls ?? []) this.#byKey.set(key, begun);
  }

  #answer(leg: string, at: number): void {
    const seen = this.#byLeg.get(leg);
    if (seen) seen.endedAt = at;
    if (leg === this.#discovery?.leg) this.#usualMs = at - this.#discovery.at;
  }

  #call({ calls: [key = ''] = [], body, at }: RequestEvent): void {
    const seen = this.#byKey.get(key);
    if (!seen || !Number.isNaN(seen.resultAt) || !body?.json.ok) return;
    if (isRecord(body.json.value) && body.json.value['type'] === 'tool_result') seen.resultAt = at;
  }
}

/** What is not there yet is NaN, and late in no way. */
function isLate({ request, endedAt, resultAt }: Acknowledgement, usualMs = 0): boolean {
  return ownTime(endedAt - request.at, usualMs).ms > ACK_SLOW_MS || endedAt - resultAt > ACK_TOLERANCE_MS;
}

function stimulusOf({ body }: RequestEvent): Stimulus[] {
  const sent = body?.json.ok ? body.json.value : null;
  if (!isRecord(sent) || typeof sent['operation'] !== 'string' || !isRecord(sent['arguments'])) return [];
  return [{ operation: sent['operation'], arguments: sent['arguments'] }];
}
