import { ProtocolCliError } from '../errors.js';
import { endByForce } from '../system/forced-end.js';
import { type EndingSignal, onSignals } from '../system/signals.js';
import { type ExitStatus, statusOfSignal } from './exit-status.js';

/** A person's wish to stop, as a value: the first signal ends the work in good order, the second at once. */
export interface Interruption {
  /** @throws ProtocolCliError `interrupted` where a signal comes first. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Calls back at the first signal; at once where it has come. Returns how to stop listening. */
  onSignal(callback: () => void): () => void;
  /** The exit status of the signal that came; undefined where none did. */
  signalStatus(): ExitStatus | undefined;
  release(): void;
}

export function interruption(): Interruption {
  const callbacks = new Set<() => void>();
  const abort = new AbortController();
  let came: EndingSignal | undefined;
  const release = onSignals(signal => {
    if (came) {
      release();
      endByForce(signal);
    }
    came = signal;
    for (const callback of callbacks) callback();
    abort.abort();
  });
  const onSignal = (callback: () => void) => {
    callbacks.add(callback);
    if (came) callback();
    return () => void callbacks.delete(callback);
  };
  return {
    signal: abort.signal,
    onSignal,
    release,
    signalStatus: () => came && statusOfSignal(came),
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
