import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often the list is read: a process may start another one meanwhile. */
const PASSES = 50;

/** How long a killed process may take to end, before the list is read again, in ms. */
const PAUSE_MS = 10;

/**
 * Kills the processes that have this variable in their environment, such as those of a command that left its process group. Returns the
 * names of their programs; null on a system that has no list of processes, which is neither Linux nor alike.
 * @param name of the variable
 * @param valueStart what its value begins with
 * @param folder the list of processes
 */
export async function killProcessesWith(
  name: string,
  valueStart: string,
  folder = '/proc',
): Promise<readonly string[] | null> {
  if (!existsSync(join(folder, 'self'))) return null;
  const killed = new Map<number, string>();
  for (let pass = 0; pass < PASSES; pass++) {
    const found = await processesWith(`${name}=${valueStart}`, folder);
    if (found.length === 0) break;
    for (const pid of found) {
      if (!killed.has(pid)) killed.set(pid, await programOf(pid, folder));
      kill(pid);
    }
    await sleep(PAUSE_MS);
  }
  return [...killed.values()];
}

async function programOf(pid: number, folder: string): Promise<string> {
  const line = await readFile(join(folder, String(pid), 'cmdline'), 'utf8').catch(() => '');
  const [program = ''] = line.split('\0'); // arguments may contain secrets
  return basename(program) || `process ${pid}`;
}

async function processesWith(variable: string, folder: string): Promise<readonly number[]> {
  const names = await readdir(folder).catch(() => []);
  const pids = names.map(Number).filter(pid => pid > 1 && pid !== process.pid);
  const has = async (pid: number) => {
    const environment = await readFile(join(folder, String(pid), 'environ'), 'latin1').catch(() => ''); // empty for an ended process
    return environment.split('\0').some(each => each.startsWith(variable));
  };
  const found = await Promise.all(pids.map(async pid => ((await has(pid)) ? [pid] : [])));
  return found.flat();
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}
