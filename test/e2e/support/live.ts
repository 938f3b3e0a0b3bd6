import { eventually } from './eventually.js';
import type { Ended } from './program.js';

/** A program that runs, and can be listened to meanwhile. */
export interface Live {
  /** Waits until it says this, on stdout or stderr; gives the first group, else all that fits. */
  says(what: RegExp): Promise<string>;
  /** What Ctrl-C sends. */
  interrupt(): void;
  readonly ended: Promise<Ended>;
}

/** Waits until what was said so far fits; gives the first group, else all that fits. */
export function saidIn(said: () => string, what: RegExp): Promise<string> {
  return eventually(`${what}, not just: ${said().slice(-2_000)}`, () => {
    const found = what.exec(said());
    return found ? (found[1] ?? found[0]) : undefined;
  });
}
