import type { Event, RequestEvent } from './events.js';
import type { Exchange } from './exchange.js';
import { begin, step } from './step.js';

/** A request that belongs to no call's own story: discovery, a notice, a POST to an address that is nobody's. */
export interface Errand {
  readonly leg: string;
  readonly purpose: RequestEvent['purpose'];
  readonly url: string;
  readonly at: number;
  readonly endedAt?: number;
  readonly status?: number;
  readonly broken?: string;
  readonly refusal?: string;
}

export interface LoadedToolset {
  readonly at: number;
  readonly name: string;
  readonly base: string | null;
  readonly endpoint: string;
  readonly operations: readonly string[];
}

/**
 * Everything a list of events tells. Exchanges are values, replaced as they change; the index around them is mutable,
 * since copying it for each event would cost more than the events.
 */
export class History {
  readonly exchanges = new Map<string, Exchange>();
  readonly errands = new Map<string, Errand>();
  readonly toolsets: LoadedToolset[] = [];

  apply(event: Event): void {
    if (event.kind === 'loaded') this.toolsets.push(loadedToolset(event));
    for (const key of event.calls ?? []) this.#applyToCall(key, event);
    if (event.kind === 'request' && isErrand(event)) this.errands.set(event.leg, errand(event));
    else if (event.kind === 'response' || event.kind === 'broken') this.#endErrand(event);
  }

  /** The first exchange: the only one where a single call was made. */
  get first(): Exchange | undefined {
    return this.exchanges.values().next().value;
  }

  #applyToCall(key: string, event: Event): void {
    const known = this.exchanges.get(key) ?? (event.kind === 'request' ? begin(key, event) : null);
    if (known) this.exchanges.set(key, step(known, event));
  }

  #endErrand(event: Extract<Event, { kind: 'response' | 'broken' }>): void {
    const known = this.errands.get(event.leg);
    if (known) this.errands.set(event.leg, { ...known, endedAt: event.at, ...ending(event) });
  }
}

/** How many POSTs reached the listener but no call. */
export function strayCount({ errands }: History): number {
  return [...errands.values()].filter(({ purpose }) => purpose === 'callback').length;
}

function isErrand({ purpose, calls = [] }: RequestEvent): boolean {
  return purpose === 'callback' ? calls.length === 0 : purpose !== 'invocation';
}

function errand({ leg, purpose, url, at }: RequestEvent): Errand {
  return { leg, purpose, url, at };
}

function ending(event: Extract<Event, { kind: 'response' | 'broken' }>): Partial<Errand> {
  if (event.kind === 'broken') return { broken: event.code };
  return { status: event.status, ...(event.refusal === undefined ? {} : { refusal: event.refusal }) };
}

function loadedToolset({
  at,
  toolset,
  base,
  endpoint,
  operations,
}: Extract<Event, { kind: 'loaded' }>): LoadedToolset {
  return { at, name: toolset, base, endpoint, operations };
}
