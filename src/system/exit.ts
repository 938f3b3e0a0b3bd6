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

/** An end that nobody planned: an error that nobody caught, or SIGQUIT. */
export type Emergency = { readonly kind: 'fault'; readonly error: unknown } | { readonly kind: 'quit' };

/** Whoever takes longer to leave, in ms, is not waited for. */
const MOMENT_MS = 1_000;

const leaving = new Set<() => void>();

/** Called in an emergency: there is a moment to take leave of others. Returns how to take it back. */
export function onEmergency(leave: () => void): () => void {
  leaving.add(leave);
  return () => void leaving.delete(leave);
}

/**
 * Makes of the first emergency an end that is as orderly as it can be: whoever wants to leaves, then what is due before a forced end is
 * done, then `end` is called, which ends this process. A second SIGQUIT does not wait.
 * @returns to be called when the work is over: where there is an emergency, it ends with that
 */
export function meetEmergencies(end: (emergency: Emergency) => void): () => void {
  let met: Emergency | null = null;
  const finish = () => {
    if (met === null) return;
    process.off('SIGQUIT', onQuit);
    doForcedDuties();
    end(met);
  };
  const meet = (emergency: Emergency) => {
    if (met !== null) return emergency.kind === 'quit' ? finish() : undefined; // one fault leads to others
    met = emergency;
    if (leaving.size === 0) return finish();
    setTimeout(finish, MOMENT_MS);
    for (const leave of leaving) leave();
  };
  const onQuit = () => meet({ kind: 'quit' });
  process.on('uncaughtException', error => meet({ kind: 'fault', error }));
  process.on('SIGQUIT', onQuit);
  return finish;
}
