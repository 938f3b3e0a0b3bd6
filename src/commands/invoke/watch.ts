import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ProtocolCliError } from '../../errors.js';
import { systemClock } from '../../system/clock.js';
import { type Watching, watchFiles } from '../../system/watch-files.js';
import type { ExitStatus } from '../exit-status.js';
import { interruption } from '../interruption.js';
import type { Terminal } from '../terminal.js';
import { type InvokeOptions, planInvoke } from './plan.js';
import { runInvoke } from './run.js';

const MOST_FILES = 500;

/** `--watch`: makes the call, and makes it again with a fresh server whenever a file of the command changes, until a signal comes. */
export async function invokeAndWatch(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const interrupted = interruption();
  const over = new Promise<void>(resolve => void interrupted.onSignal(resolve));
  let change = () => {};
  let changed = new Promise<void>(() => {});
  const expectChange = () => {
    changed = new Promise(resolve => {
      change = resolve;
    });
  };
  const watching = await watchCommand(options.command, terminal.cwd, () => change());
  try {
    for (;;) {
      expectChange(); // one that comes during the call counts
      const status = await runInvoke(planInvoke(words, options), terminal);
      if (interrupted.signal.aborted) return status;
      terminal.stderr.write('waiting for a change of the files of --command; Ctrl-C stops\n');
      await Promise.race([changed, over]);
      if (interrupted.signal.aborted) return interrupted.signalStatus() ?? status;
    }
  } finally {
    watching.close();
    interrupted.release();
  }
}

/**
 * Watches the files that a command names, and those beside them.
 * @throws ProtocolCliError `usage` where it names none.
 */
export async function watchCommand(
  command: string | undefined,
  cwd: string,
  onChange: () => void,
): Promise<Watching> {
  if (command === undefined) throw new ProtocolCliError('usage', '--watch needs --command');
  const list = () => filesOf(command, cwd);
  const files = await list();
  if (files.length > 0) return watchFiles(files, onChange, systemClock, list);
  throw new ProtocolCliError('usage', `--watch: the command names no file: ${command}`, {
    hint: "Name the server's file, as in --command 'node server.mjs'.",
  });
}

async function filesOf(command: string, cwd: string): Promise<string[]> {
  const words = command.split(/[\s'"]+/).map(word => resolve(cwd, word));
  const named = await Promise.all(words.map(async path => ((await isFile(path)) ? [dirname(path)] : [])));
  const folders = [...new Set(named.flat())].filter(folder => folder !== dirname(process.execPath));
  const found = await Promise.all(
    folders.map(async folder =>
      (await readdir(folder, { withFileTypes: true }))
        .filter(entry => entry.isFile() && !entry.name.startsWith('.'))
        .map(({ name }) => join(folder, name)),
    ),
  );
  return found.flat().sort().slice(0, MOST_FILES);
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    found => found.isFile(),
    () => false,
  );
}
