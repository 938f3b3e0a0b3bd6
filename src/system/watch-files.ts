import { type FSWatcher, watch } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { constants } from 'node:os';
import { dirname, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { isMainThread, Worker } from 'node:worker_threads';
import { ProtocolCliError } from '../util/errors.js';
import { type Clock, systemClock } from './drafts.js';
import { beforeForcedEnd, doForcedDuties } from './exit.js';
import { ENDING_SIGNALS, type EndingSignal, onSignals } from './signals.js';

const SETTLE_MS = 50;

export interface Watching {
  close(): void;
}

/**
 * Calls back once for each settled change of the files: an editor that writes in pieces or replaces the file makes one change. Removal
 * and return of a file count as changes. Links are followed. Changes count from the moment of the call.
 * @param list the files at each check; there may be new ones in the same folders
 * @throws ProtocolCliError `unreadable-file` if a file's folder cannot be watched.
 */
export async function watchFiles(
  paths: readonly string[],
  onChange: () => void,
  clock: Clock = systemClock,
  list: () => Promise<readonly string[]> = async () => paths,
): Promise<Watching> {
  const files = paths.map(path => resolve(path));
  const look = async () => signatureOf((await list().catch(() => paths)).map(path => resolve(path)));
  const observer = new Observer(look, await signatureOf(files), onChange, clock);
  try {
    for (const folder of await foldersOf(files)) observer.watch(folder);
  } catch (cause) {
    observer.close();
    throw unwatchable(cause);
  }
  observer.look();
  return observer;
}

/** Watches folders instead of files, since a replaced file would no longer be watched. */
class Observer implements Watching {
  readonly #watchers: FSWatcher[] = [];
  #sampled: string;
  #reported: string;
  #cancel: (() => void) | null = null;
  #isClosed = false;

  constructor(
    private readonly signature: () => Promise<string>,
    before: string,
    private readonly onChange: () => void,
    private readonly clock: Clock,
  ) {
    this.#sampled = before;
    this.#reported = before;
  }

  watch(folder: string): void {
    const watcher = watch(folder, { persistent: false }, () => this.look());
    watcher.on('error', () => watcher.close()); // the folder is gone
    this.#watchers.push(watcher);
  }

  /** Checks soon; changes of other files do not delay it. */
  look(): void {
    if (!this.#isClosed) this.#cancel ??= this.clock.after(SETTLE_MS, () => void this.#compare());
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    for (const watcher of this.#watchers) watcher.close();
  }

  /** Two equal checks mean that the change has settled. */
  async #compare(): Promise<void> {
    this.#cancel = null;
    const seen = await this.signature();
    if (this.#isClosed || seen === this.#reported) return;
    if (seen === this.#sampled) {
      this.#reported = seen;
      this.onChange();
    } else {
      this.#sampled = seen;
      this.look();
    }
  }
}

/** The state of the files without their content. */
async function signatureOf(files: readonly string[]): Promise<string> {
  const states = await Promise.all(
    files.map(file =>
      stat(file, { bigint: true }).then(
        ({ ino, size, mtimeNs }) => `${file} ${ino} ${size} ${mtimeNs}`,
        () => `${file} none`,
      ),
    ),
  );
  return states.join(', ');
}

/** The folders of the files and of their link targets. */
async function foldersOf(files: readonly string[]): Promise<Set<string>> {
  const real = await Promise.all(files.map(file => realpath(file).catch(() => file)));
  return new Set([...files, ...real].map(file => dirname(file)));
}

function unwatchable(cause: unknown): ProtocolCliError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new ProtocolCliError('unreadable-file', `cannot watch the files: ${reason}`, {
    hint: 'Start it again without --watch, or raise the limit of watched files (fs.inotify.max_user_watches on Linux).',
    cause,
  });
}

/** V8 goes up to 300 while much is allocated. */
const GROWTH = 100;

/**
 * Collects garbage earlier: a quarter less peak memory for 5 % of the throughput, in a long-running server or for very long content.
 * Affects the whole process.
 * @param growth in percent of the memory in use
 */
export function keepHeapTight(growth: number = GROWTH): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`);
}

/**
 * Keeps the space for new objects small, which saves about 45 MB in a process that creates many short-lived objects, such as for a long
 * diff. Call it before the work.
 */
export function keepNewspaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Registers synchronous cleanup for any end of this process. It may be called more than once. Returns a function that removes it. */
export function beforeAnyEnd(duty: () => void): () => void {
  const forget = beforeForcedEnd(duty);
  process.once('exit', duty);
  return () => {
    forget();
    process.off('exit', duty);
  };
}

/** Node's longest timer is longer. */
const LONG_MS = 2 ** 30;

/** Keeps the process alive. Returns a function that ends this. */
export function holdOpen(): () => void {
  const timer = setInterval(() => {}, LONG_MS);
  return () => clearInterval(timer);
}

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
