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
 * Calls back once for each change of the files, when it has settled: an editor that writes a file in pieces, or puts another in
 * its place, has made one change. A file that is gone counts as changed, and again when it is back. Links are followed.
 * What changes while this is being started counts too, from the moment of the call.
 * @param list the files anew, at each look: there may be more of them by then, in the same folders
 * @throws ProtocolCliError `unreadable-file` where a file's folder cannot be watched.
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

/** Folders are watched, not files: a file that is replaced would no longer be the one that is watched. */
class Observer implements Watching {
  readonly #watchers: FSWatcher[] = [];
  #sampled: string;
  #told: string;
  #cancel: (() => void) | null = null;
  #isClosed = false;

  constructor(
    private readonly signature: () => Promise<string>,
    before: string,
    private readonly onChange: () => void,
    private readonly clock: Clock,
  ) {
    this.#sampled = before;
    this.#told = before;
  }

  watch(folder: string): void {
    const watcher = watch(folder, { persistent: false }, () => this.look());
    watcher.on('error', () => watcher.close()); // the folder is gone: there is nothing more to see
    this.#watchers.push(watcher);
  }

  /** Soon; other files of a busy folder do not put it off. */
  look(): void {
    if (!this.#isClosed) this.#cancel ??= this.clock.after(SETTLE_MS, () => void this.#compare());
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
    for (const watcher of this.#watchers) watcher.close();
  }

  /** Two looks that agree are a change that has settled. */
  async #compare(): Promise<void> {
    this.#cancel = null;
    const seen = await this.signature();
    if (this.#isClosed || seen === this.#told) return;
    if (seen === this.#sampled) {
      this.#told = seen;
      this.onChange();
    } else {
      this.#sampled = seen;
      this.look();
    }
  }
}

/** What tells one state of the files from another, without reading them. */
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

/** Where the files are, and where they really are. */
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
 * For a process that serves for long, or shows what is very long: what it remembers, and soon forgets, is collected earlier. A quarter
 * less memory at the peak, for a twentieth of the throughput. Whole processes only: the heap is everybody's.
 * @param growth in percent of what is in use
 */
export function keepHeapTight(growth: number = GROWTH): void {
  setFlagsFromString(`--heap-growing-percent=${growth}`);
}

/**
 * For a process that makes very much and keeps none of it, as one that shows a long diff: new objects have a small room that is emptied
 * often, where V8 would take some 45 MB more. To be called before the work.
 */
export function keepNewspaceSmall(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Work that is due however this process ends: by itself, or by force. It may be called more than once. Returns how to take it back. */
export function beforeAnyEnd(duty: () => void): () => void {
  const forget = beforeForcedEnd(duty);
  process.once('exit', duty);
  return () => {
    forget();
    process.off('exit', duty);
  };
}

/** Longer than any timer of Node takes. */
const LONG_MS = 2 ** 30;

/** Keeps the process where nothing else does: somebody waits for what may never come. Returns how to let it go. */
export function holdOpen(): () => void {
  const timer = setInterval(() => {}, LONG_MS);
  return () => clearInterval(timer);
}

/** So long after a signal the event loop may stay blocked, in ms. */
const PATIENCE_MS = 600;
const BEAT_MS = 50;

/** The event that the worker emits on our `process`. */
const BLOCKED = 'protocol-cli:blocked';

/**
 * A signal handler in JavaScript runs only when the event loop turns, which a long computation keeps from happening. A worker
 * receives signals by itself, and can have the main thread run a line of code in the middle of whatever that computes.
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
 * From now on a signal ends this process within a second also while it computes. Where the platform offers no way, nothing changes.
 * It costs a thread: for commands that compute on what others wrote.
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
    process.removeAllListeners(signal); // the worker sends it once more, and it then ends us
    doForcedDuties();
  });
  const signals = Object.fromEntries(ENDING_SIGNALS.map(name => [name, constants.signals[name]]));
  const workerData = { beats, signals, patience: PATIENCE_MS, event: BLOCKED };
  new Worker(WORKER, { eval: true, workerData }).on('error', () => {}).unref();
}
