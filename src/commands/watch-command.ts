import { readdir, stat } from 'node:fs/promises';
import { dirname, extname, join, resolve } from 'node:path';
import { keepProcessAlive } from '../system/process.js';
import { type FileWatcher, watchFiles } from '../system/watch-files.js';
import { usageError } from './options.js';
import { type ExitStatus, Interruption, type Terminal } from './terminal.js';

const MAX_FILES = 500;

/**
 * `--watch`: runs once, and again whenever a file of the command changes, until a signal arrives.
 * @throws ProtocolCliError `usage`, and errors of the run.
 */
export async function runOnEachChange(
  command: string | undefined,
  { cwd, stderr }: Pick<Terminal, 'cwd' | 'stderr'>,
  run: () => Promise<ExitStatus>,
  option = '--command',
): Promise<ExitStatus> {
  let change = () => {};
  const watching = await watchCommand(command, cwd, () => change(), option);
  const interrupted = new Interruption();
  const stopped = new Promise<void>(resolve => void interrupted.onSignal(resolve));
  const release = keepProcessAlive(); // file watchers alone do not keep the process alive between two runs
  try {
    for (;;) {
      const changed = new Promise<void>(resolve => {
        change = resolve; // a change during the run triggers another run
      });
      const status = await run();
      if (interrupted.signal.aborted) return status;
      stderr.write(`waiting for a change of the files of ${option}; Ctrl-C stops\n`);
      await Promise.race([changed, stopped]);
      if (interrupted.signal.aborted) return interrupted.status ?? status;
    }
  } finally {
    release();
    watching.close();
    interrupted.release();
  }
}

/**
 * Watches the files that a command names, and files with the same extension in their folders; other files may be the server's output.
 * @throws ProtocolCliError `usage` if the command names no file.
 */
export async function watchCommand(
  command: string | undefined,
  cwd: string,
  onChange: () => void,
  option = '--command',
): Promise<FileWatcher> {
  if (command === undefined) throw usageError(`--watch needs ${option} <command>`);
  const list = () => filesOf(command, cwd);
  if ((await list()).length > 0) return watchFiles(list, onChange);
  throw usageError(
    `--watch: no file in the command: ${command}`,
    `Name the file of the program, as in ${option} "node server.mjs".`,
  );
}

async function filesOf(command: string, cwd: string): Promise<string[]> {
  const quoted = [...command.matchAll(/"([^"]+)"|'([^']+)'/g)].map(([, word, other]) => word ?? other ?? '');
  const words = [...quoted, ...command.split(/[\s'"]+/)].map(word => resolve(cwd, word));
  const isFile = async (path: string) => (await stat(path).catch(() => null))?.isFile() === true;
  const named = await Promise.all(words.map(async path => ((await isFile(path)) ? [path] : [])));
  const files = named.flat().filter(path => dirname(path) !== dirname(process.execPath));
  const found = await Promise.all(
    files.map(async file =>
      (await readdir(dirname(file), { withFileTypes: true }))
        .filter(entry => entry.isFile() && extname(entry.name) === extname(file))
        .map(({ name }) => join(dirname(file), name)),
    ),
  );
  return [...new Set(found.flat())].sort().slice(0, MAX_FILES);
}
