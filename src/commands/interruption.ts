import { ProtocolCliError } from '../errors.js';
import { onEmergency } from '../system/emergency.js';
import { endByForce } from '../system/forced-end.js';
import { onSignals } from '../system/signals.js';
import { type ExitStatus, statusOfSignal } from './exit-status.js';

/**
 * A person's wish to stop, as a value: the first signal ends the work in good order, a second one at once. So does an emergency, as far as
 * there is time.
 */
export interface Interruption {
  /** @throws ProtocolCliError `interrupted` where a signal comes first. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Aborted by the first signal, or an emergency. */
  readonly signal: AbortSignal;
  /** Calls back at the first signal; at once where it has come. Returns how to stop listening. */
  onSignal(callback: () => void): () => void;
  /** The exit status of the signal that came, 1 of an emergency; undefined where none did. */
  signalStatus(): ExitStatus | undefined;
  release(): void;
}

export function interruption(): Interruption {
  const callbacks = new Set<() => void>();
  const abort = new AbortController();
  let status: ExitStatus | undefined;
  const stopWith = (own: ExitStatus) => {
    status = own;
    for (const callback of callbacks) callback();
    abort.abort();
  };
  const stopListening = onSignals(signal => {
    if (status === undefined) return stopWith(statusOfSignal(signal));
    if (signal === 'SIGHUP') return; // a terminal that goes away says so more than once, and nobody is impatient
    release();
    endByForce(signal);
  });
  const forgetEmergency = onEmergency(() => {
    if (status === undefined) stopWith(1);
  });
  const release = () => {
    stopListening();
    forgetEmergency();
  };
  const onSignal = (callback: () => void) => {
    callbacks.add(callback);
    if (status !== undefined) callback();
    return () => void callbacks.delete(callback);
  };
  return {
    signal: abort.signal,
    onSignal,
    release,
    signalStatus: () => status,
    race: work => {
      const interrupted = new Promise<never>((_, reject) => {
        onSignal(() => reject(new ProtocolCliError('interrupted', 'interrupted before the tool was called')));
      });
      return Promise.race([work, interrupted]);
    },
  };
}

/** Takes what has to be stopped at the end. */
export type OnStop = (stop: () => Promise<void>) => void;

/**
 * Work that a signal ends in good order: what was started is stopped however it ends, and a signal decides the exit status.
 * @throws what the work throws.
 */
export async function stoppable(
  work: (onStop: OnStop, signal: AbortSignal) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const interrupted = interruption();
  const stops: (() => Promise<void>)[] = [];
  try {
    return await interrupted.race(work(stop => stops.push(stop), interrupted.signal));
  } catch (error) {
    const status = interrupted.signalStatus();
    if (status === undefined) throw error;
    return status;
  } finally {
    await Promise.allSettled(stops.map(stop => stop()));
    interrupted.release();
  }
}
