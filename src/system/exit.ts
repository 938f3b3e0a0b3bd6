import type { EndingSignal } from './signals.js';

const duties = new Set<() => void>();

/**
 * Registers synchronous cleanup for an end by a second signal. It may be called more than once. Returns a function that removes it.
 */
export function beforeForcedEnd(duty: () => void): () => void {
  duties.add(duty);
  return () => void duties.delete(duty);
}

/** Runs the registered cleanup. */
export function doForcedDuties(): void {
  for (const duty of duties) {
    try {
      duty();
    } catch {
      // the others still run
    }
  }
}

/** Ends this process as the signal would; a remaining listener forwards the signal one turn later. */
export function endByForce(signal: EndingSignal | 'SIGQUIT'): void {
  doForcedDuties();
  setTimeout(() => {}, PASSED_ON_MS);
  process.kill(process.pid, signal);
}

/** Keeps the process alive until the signal arrives, so that it does not end with another status. */
const PASSED_ON_MS = 1_000;

/** An uncaught error, or SIGQUIT. */
export type Emergency = { readonly kind: 'fault'; readonly error: unknown } | { readonly kind: 'quit' };

/** Time for cleanup in an emergency, in ms. */
const MOMENT_MS = 1_000;

const leaving = new Set<() => void>();

/** Registers cleanup for an emergency, with a second to notify others. Returns a function that removes it. */
export function onEmergency(leave: () => void): () => void {
  leaving.add(leave);
  return () => void leaving.delete(leave);
}

/**
 * On the first emergency runs the emergency cleanup, then that of a forced end, then `end`, which ends this process. A second SIGQUIT
 * does not wait.
 * @returns call it when the work is done: it ends the process if there was an emergency.
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
    if (met !== null) return emergency.kind === 'quit' ? finish() : undefined; // one error leads to others
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
