import type { OnStop } from '../interruption.js';

/** What was started, and is to be stopped. */
export interface Stops {
  readonly onStop: OnStop;
  /** What was started last first; nothing twice, and whatever fails is no reason to leave the others running. */
  stopAll(): Promise<unknown>;
}

export function openStops(): Stops {
  const stops: (() => Promise<void>)[] = [];
  const lastFirst = () => stops.splice(0).reverse();
  return {
    onStop: stop => stops.push(stop),
    stopAll: () => Promise.allSettled(lastFirst().map(stop => stop())),
  };
}
