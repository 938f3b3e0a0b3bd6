import { constants } from 'node:os';
import { isMainThread, Worker } from 'node:worker_threads';
import { doForcedDuties, ENDING_SIGNALS, type EndingSignal, onSignals } from './process.js';

/** How long the event loop may stay blocked after a signal, in ms. */
const PATIENCE_MS = 600;

const BEAT_MS = 50;

/** The event that the worker emits on our `process`. */
const BLOCKED = 'protocol-cli:blocked';

/** How long the main thread may take to clean up, in ms: a single native call, such as a large sort, cannot be interrupted. */
const CLEANUP_MS = 300;

/**
 * A signal handler in JavaScript runs only when the event loop turns, which a long computation prevents. A worker receives signals too,
 * and can interrupt the main thread to run a line of code. Node 24 has the class for signals among its internals only.
 */
const WORKER = `
  process.emitWarning = () => {};
  const { workerData: { beats, signals, patience, cleanup, event } } = require('node:worker_threads');
  const { Session } = require('node:inspector');
  const { readFileSync } = require('node:fs');
  const { Signal } = signalClass();
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
      setInterval(() => {}, patience); // keeps the worker alive until the answer arrives
      setTimeout(kill, cleanup);
      const session = new Session();
      session.connectToMainThread();
      const expression = 'process.emit("' + event + '", "' + name + '")';
      session.post('Runtime.evaluate', { expression }, () => process.kill(process.pid, name));
    }, patience);
  }
  function kill() {
    try {
      const children = readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8');
      for (const child of children.match(/[0-9]+/g) ?? []) try { process.kill(-child, 'SIGKILL'); } catch {}
    } catch {}
    process.kill(process.pid, 'SIGKILL');
  }
  function signalClass() {
    try {
      return process.binding('signal_wrap');
    } catch {
      return require('internal/test/binding').internalBinding('signal_wrap');
    }
  }
`;

let isGuarded = false;

/**
 * Lets a signal end this process within a second, even during a long computation, if the platform supports it. This costs a thread, so
 * it is only for commands that compute on untrusted input.
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
    process.removeAllListeners(signal); // the worker sends the signal again, which then ends the process
    doForcedDuties();
  });
  const signals = Object.fromEntries(ENDING_SIGNALS.map(name => [name, constants.signals[name]]));
  const workerData = { beats, signals, patience: PATIENCE_MS, cleanup: CLEANUP_MS, event: BLOCKED };
  new Worker(WORKER, { eval: true, workerData, execArgv: ['--expose-internals'] })
    .on('error', () => {})
    .unref();
}
