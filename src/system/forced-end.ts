import type { EndingSignal } from './signals.js';

const duties = new Set<() => void>();

/**
 * Something that must be done before this process ends by a second signal, when there is no time left for good order: at once, and
 * without waiting. It may be called more than once. Returns how to take it back.
 */
export function beforeForcedEnd(duty: () => void): () => void {
  duties.add(duty);
  return () => void duties.delete(duty);
}

/** Does what is due before this process ends. */
export function doForcedDuties(): void {
  for (const duty of duties) {
    try {
      duty();
    } catch {
      // the others are due all the same
    }
  }
}

/** Ends this process as the signal would have; whoever still listens to that passes it on, a turn later. */
export function endByForce(signal: EndingSignal | 'SIGQUIT'): void {
  doForcedDuties();
  setTimeout(() => {}, PASSED_ON_MS);
  process.kill(process.pid, signal);
}

/** For so long this process does not end by itself, with another status. */
const PASSED_ON_MS = 1_000;
