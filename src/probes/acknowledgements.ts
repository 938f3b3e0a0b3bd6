import type { Event, RequestEvent } from '../exchange/events.js';
import { ACK_SLOW_MS, ACK_TOLERANCE_MS } from '../exchange/exchange.js';
import type { Log } from '../exchange/log.js';
import { isRecord } from '../text/is-record.js';
import type { Stimulus } from './call.js';
import type { Desk, Plan } from './desk.js';
import { proberFor } from './prober.js';

/** Calls whose acknowledgement was late, made again: TOOL-ACK goes by these, where they are in time. */
const AGAIN: Plan = { id: 'acknowledgement again', checks: ['TOOL-ACK'], again: true };
/** So many different ones, each so often. */
const MOST = { calls: 3, times: 3 };

/** How one call was acknowledged, in ms since the start. */
interface Acknowledgement {
  readonly request: RequestEvent;
  endedAt: number;
  resultAt: number;
}

/** Times the acknowledgements of a run as the rule does. */
export class Stopwatch {
  readonly #byLeg = new Map<string, Acknowledgement>();
  readonly #byKey = new Map<string, Acknowledgement>();

  constructor(log: Log) {
    log.subscribe(event => this.#hear(event));
  }

  isLate(key: string): boolean {
    const seen = this.#byKey.get(key);
    return seen !== undefined && isLate(seen);
  }

  /** What was sent, each once, where the 200 was slow or came after the result. */
  late(): readonly Stimulus[] {
    const sent = [...this.#byKey.values()].filter(isLate).flatMap(({ request }) => stimulusOf(request));
    return [...new Map(sent.map(each => [JSON.stringify(each), each])).values()];
  }

  #hear(event: Event): void {
    if (event.kind === 'request' && event.purpose === 'invocation') this.#begin(event);
    else if (event.kind === 'response') this.#acknowledge(event.leg, event.at);
    else if (event.kind === 'request' && event.purpose === 'callback') this.#call(event);
  }

  #begin(request: RequestEvent): void {
    const begun = { request, endedAt: Number.NaN, resultAt: Number.NaN };
    this.#byLeg.set(request.leg, begun);
    for (const key of request.calls ?? []) this.#byKey.set(key, begun);
  }

  #acknowledge(leg: string, at: number): void {
    const seen = this.#byLeg.get(leg);
    if (seen) seen.endedAt = at;
  }

  #call({ calls: [key = ''] = [], body, at }: RequestEvent): void {
    const seen = this.#byKey.get(key);
    if (!seen || !Number.isNaN(seen.resultAt) || !body?.json.ok) return;
    if (isRecord(body.json.value) && body.json.value['type'] === 'tool_result') seen.resultAt = at;
  }
}

/** What is not there yet is NaN, and late in no way. */
function isLate({ request, endedAt, resultAt }: Acknowledgement): boolean {
  return endedAt - request.at > ACK_SLOW_MS || endedAt - resultAt > ACK_TOLERANCE_MS;
}

function stimulusOf({ body }: RequestEvent): Stimulus[] {
  const sent = body?.json.ok ? body.json.value : null;
  if (!isRecord(sent) || typeof sent['operation'] !== 'string' || !isRecord(sent['arguments'])) return [];
  return [{ operation: sent['operation'], arguments: sent['arguments'] }];
}

/**
 * This machine may have been busy, and not the tool: what was acknowledged late among many calls is called once more alone, until it is
 * in time.
 */
export async function askAgain(
  desk: Desk,
  stopwatch: Stopwatch,
  mayRepeat: (operation: string) => boolean,
): Promise<void> {
  const late = stopwatch.late().filter(({ operation }) => mayRepeat(operation));
  const prober = proberFor(desk, AGAIN);
  for (const stimulus of late.slice(0, MOST.calls)) {
    let isLate = true;
    for (let time = 0; isLate && time < MOST.times && !desk.signal.aborted; time++) {
      const { key } = await prober.call(stimulus);
      isLate = stopwatch.isLate(key);
    }
  }
}
