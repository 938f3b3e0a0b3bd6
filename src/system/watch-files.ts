import { type FSWatcher, watch } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ProtocolCliError } from '../errors.js';
import { type Clock, systemClock } from './clock.js';

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
