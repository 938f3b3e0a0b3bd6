import { type FSWatcher, watch } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { messageOf, ProtocolCliError } from '../util/errors.js';
import { type Clock, systemClock } from './clock.js';

const SETTLE_MS = 50;

export interface FileWatcher {
  close(): void;
}

/**
 * Calls back once for each settled change of the files: an editor that writes in pieces or replaces the file causes one change.
 * Removing and restoring a file count as changes. Links are followed. Watching begins with the call.
 * @param list returns the files, also at each check; there may be new ones in the same folders
 * @throws ProtocolCliError `unreadable-file` if a file's folder cannot be watched.
 */
export async function watchFiles(
  list: () => Promise<readonly string[]>,
  onChange: () => void,
  clock: Clock = systemClock,
): Promise<FileWatcher> {
  const paths = await list();
  const files = paths.map(path => resolve(path));
  let reported = await signatureOf(files);
  let sampled = reported;
  let cancel: (() => void) | null = null;
  let isClosed = false;
  const watchers: FSWatcher[] = [];
  /** Checks soon; changes of other files do not delay it. */
  const checkSoon = () => {
    if (!isClosed) cancel ??= clock.after(SETTLE_MS, () => void check());
  };
  /** Two equal checks mean that the change has settled. */
  const check = async () => {
    cancel = null;
    const listed = await list().catch(() => paths);
    const seen = await signatureOf(listed.map(path => resolve(path)));
    if (isClosed || seen === reported) return;
    if (seen !== sampled) {
      sampled = seen;
      return checkSoon();
    }
    reported = seen;
    onChange();
  };
  const close = () => {
    isClosed = true;
    cancel?.();
    for (const watcher of watchers) watcher.close();
  };
  try {
    // Folders instead of files, since a replaced file would no longer be watched.
    for (const folder of await foldersOf(files)) {
      const watcher = watch(folder, { persistent: false }, checkSoon);
      watcher.on('error', () => watcher.close()); // the folder was removed
      watchers.push(watcher);
    }
  } catch (cause) {
    close();
    throw unwatchable(cause);
  }
  checkSoon();
  return { close };
}

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

async function foldersOf(files: readonly string[]): Promise<Set<string>> {
  const real = await Promise.all(files.map(file => realpath(file).catch(() => file)));
  return new Set([...files, ...real].map(file => dirname(file)));
}

function unwatchable(cause: unknown): ProtocolCliError {
  const reason = messageOf(cause);
  return new ProtocolCliError('unreadable-file', `cannot watch the files: ${reason}`, {
    hint: 'Start it again without --watch, or raise the limit of watched files (fs.inotify.max_user_watches on Linux).',
    cause,
  });
}
