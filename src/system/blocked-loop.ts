import { constants } from 'node:os';
import { isMainThread, Worker } from 'node:worker_threads';
import { doForcedDuties, ENDING_SIGNALS, type EndingSignal, onSignals } from './process.js';

/** How long the event loop may stay blocked after a signal, in ms. */
const PATIENCE_MS = 600;

const BEAT_MS = 50;

/** The event that the worker emits on our `process`. */
const BLOCKED = 'protocol-cli:blocked';

/**
 * A signal handler in JavaScript runs only when the event loop turns, which a long computation prevents. A worker receives signals too,
 * and can interrupt the main thread to run a line of code.
 */
const WORKER = `
  process.noDeprecation = true;
  const { workerData: { beats, signals, patience, event } } = require('node:worker_threads');
  const { Session } = require('node:inspector');
  const { Signal } = process.binding('signal_wrap');
  const handles = Object.entries(signals).map(([name, number]) => {
    const handle = new Signal();
    handle.onsignal = () => watch(name, Atomics.load(beats, 0));
    handle.start(number);
    return handle;
  });
  function watch(name, before) {
    setTimeout(() => {
      const now = Atomics.load(beats, 0);
      if (now !== before) return watch(name, now);
      for (const handle of handles) handle.close();
      setInterval(() => {}, patience); // until the answer is here
      const session = new Session();
      session.connectToMainThread();
      const expression = 'process.emit("' + event + '", "' + name + '")';
      session.post('Runtime.evaluate', { expression }, () => process.kill(process.pid, name));
    }, patience);
  }
`;

let isGuarded = false;

/**
 * From now on a signal ends this process within a second, also while it computes, if the platform allows it. It costs a thread, so it
 * is for commands that compute on foreign input.
 */
export function guardAgainstBlocking(): void {
  if (isGuarded || !isMainThread) return;
  isGuarded = true;
  const beats = new Int32Array(new SharedArrayBuffer(4));
  const beat = () => void Atomics.add(beats, 0, 1);
  onSignals(() => {
    beat();
    setInterval(beat, BEAT_MS).unref();
  });
  process.on(BLOCKED, (signal: EndingSignal) => {
    process.removeAllListeners(signal); // the worker sends the signal again, which then ends us
    doForcedDuties();
  });
  const signals = Object.fromEntries(ENDING_SIGNALS.map(name => [name, constants.signals[name]]));
  const workerData = { beats, signals, patience: PATIENCE_MS, event: BLOCKED };
  new Worker(WORKER, { eval: true, workerData }).on('error', () => {}).unref();
}
