import { type FSWatcher, watch } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ProtocolCliError } from '../util/errors.js';
import { type Clock, systemClock } from './clock.js';

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
