/** Registers synchronous cleanup for any end of this process. It may be called more than once. Returns a function that removes it. */
export function beforeAnyEnd(cleanup: () => void): () => void {
  const forget = beforeForcedEnd(cleanup);
  process.once('exit', cleanup);
  return () => {
    forget();
    process.off('exit', cleanup);
  };
}

/** Interval of a timer that only keeps the process alive, in ms. */
const LONG_MS = 2 ** 30;

/** Keeps the process alive. Returns a function that stops this. */
export function keepProcessAlive(): () => void {
  const timer = setInterval(() => {}, LONG_MS);
  return () => clearInterval(timer);
}

export type EndingSignal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

/** SIGBREAK is Ctrl-Break on Windows; no other system sends it. */
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK'] as const;

/**
 * Calls `handler` for every termination signal, including repeated ones. Returns a function that stops listening; the signals then end
 * the process again.
 */
export function onSignals(handler: (signal: EndingSignal) => void): () => void {
  const listener = (signal: (typeof ENDING_SIGNALS)[number]) =>
    handler(signal === 'SIGBREAK' ? 'SIGINT' : signal);
  for (const signal of ENDING_SIGNALS) process.on(signal, listener);
  return () => {
    for (const signal of ENDING_SIGNALS) process.off(signal, listener);
  };
}

const cleanups = new Set<() => void>();

/**
 * Registers synchronous cleanup for a forced exit by a second signal. It may be called more than once. Returns a function that removes
 * it.
 */
export function beforeForcedEnd(cleanup: () => void): () => void {
  cleanups.add(cleanup);
  return () => void cleanups.delete(cleanup);
}

/** The latest first: a screen that was opened after a file is closed before a message about the file is printed. */
function runCleanups(): void {
  for (const cleanup of [...cleanups].reverse()) {
    try {
      cleanup();
    } catch {
      // the other callbacks still run
    }
  }
}

/** Handles Ctrl-C as a key: on Windows, a signal that a process sends to itself ends it without its handlers. */
export function interrupt(): void {
  setImmediate(() => {
    if (!process.emit('SIGINT', 'SIGINT')) endByForce('SIGINT');
  });
}

/** Ends this process as the signal would. Until the cleanup is done, further signals have no effect. */
export function endByForce(signal: EndingSignal | 'SIGQUIT'): void {
  runCleanups();
  // There, each signal would end it with status 1, and SIGHUP not at all.
  if (process.platform === 'win32') exitWith(128 + SIGNAL_NUMBERS[signal]);
  else endBySignal(signal);
}

function endBySignal(signal: NodeJS.Signals): void {
  process.removeAllListeners(signal);
  setTimeout(() => {}, PASSED_ON_MS);
  process.kill(process.pid, signal);
}

const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGTERM: 15 } as const;

let exitWith: (status: number) => void = () => {};

/** Time to keep the process alive until the signal arrives, in ms, so that it does not exit with another status. */
const PASSED_ON_MS = 1_000;

/** Time for messages to others, in ms; on a busy machine a message takes a while. */
const MOMENT_MS = 3_000;

const leaving = new Set<() => void>();

/** Registers cleanup for an emergency, which may take a moment to notify others. Returns a function that removes it. */
export function onEmergency(leave: () => void): () => void {
  leaving.add(leave);
  return () => void leaving.delete(leave);
}

/**
 * On the first emergency (an uncaught error, or SIGQUIT) runs the emergency cleanup, then the cleanup of a forced exit, then ends this
 * process: by the signal, or with `end`. A second SIGQUIT does not wait.
 * @param exit ends this process at once, on systems without signals
 * @returns a function to call when the work is done: it ends the process if there was an emergency.
 */
export function handleEmergencies(end: (error: unknown) => void, exit: (status: number) => void): () => void {
  exitWith = exit;
  let finish = () => {};
  let hasStarted = false;
  const start = (last: () => void) => {
    hasStarted = true;
    finish = last;
    if (leaving.size === 0) return finish();
    setTimeout(() => finish(), MOMENT_MS);
    for (const leave of leaving) leave();
  };
  const onQuit = () => (hasStarted ? finish() : start(() => endByForce('SIGQUIT')));
  process.on('uncaughtException', error => {
    if (hasStarted) return; // later errors may follow from the first
    start(() => {
      runCleanups();
      end(error);
    });
  });
  process.on('SIGQUIT', onQuit);
  return () => finish();
}
