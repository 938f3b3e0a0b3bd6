import type { Event, Fact } from './events.js';

export type Listener = (event: Event) => void;
/** A listener whose failure counts: what it could not keep must not be acknowledged (a full disk becomes a 503). */
export type Keeper = (event: Event) => Promise<void>;

/** Where events are produced: gives each its place and time and hands it on, in order. */
export interface Log {
  emit(fact: Fact): Event;
  /** A name for one more request and what becomes of it. */
  leg(): string;
  subscribe(listener: Listener): () => void;
  keep(keeper: Keeper): void;
  /** Resolves once the keeper holds everything emitted so far; rejects with its error. */
  kept(): Promise<void>;
}

/** `now` is a monotonic clock in milliseconds; times in events count from this call. */
export function createLog(now: () => number): Log {
  const start = now();
  const listeners = new Set<Listener>();
  let keeping: Promise<void> = Promise.resolve();
  let keeper: Keeper | null = null;
  let seq = 0;
  let legs = 0;
  const waiting: Event[] = [];
  let isTelling = false;
  // An event that a listener emits waits its turn: everybody hears of everything in the same order.
  const tellAll = () => {
    isTelling = true;
    try {
      for (let event = waiting.shift(); event; event = waiting.shift())
        for (const listener of listeners) listener(event);
    } finally {
      isTelling = false;
    }
  };
  return {
    emit(fact) {
      const event: Event = { ...fact, seq: seq++, at: micro(now() - start) };
      if (keeper) keeping = chain(keeping, keeper, event);
      waiting.push(event);
      if (!isTelling) tellAll();
      return event;
    },
    leg: () => `l${++legs}`,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    keep(next) {
      keeper = next;
    },
    kept: () => keeping,
  };
}

function chain(before: Promise<void>, keeper: Keeper, event: Event): Promise<void> {
  const next = before.then(() => keeper(event));
  next.catch(() => {}); // whoever awaits `kept()` hears of it; until then it is no unhandled rejection
  return next;
}

/** Finer than this nothing is measured here, and a file should not say so. */
function micro(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}
