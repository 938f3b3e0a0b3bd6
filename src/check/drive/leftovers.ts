import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Passes over the processes, and the pause between two, in ms: one may start another meanwhile, and takes a moment to end. */
const [PASSES, PAUSE_MS] = [50, 10];

/**
 * Kills the processes that have this variable in their environment, such as those of a command that left its process group. Returns the
 * names of their programs; null on a system that has no list of processes, which is neither Linux nor alike.
 * @param start what the value of the variable begins with
 * @param list the folder of that list
 */
export async function killProcessesWith(
  name: string,
  start: string,
  list = '/proc',
): Promise<readonly string[] | null> {
  if (!existsSync(join(list, 'self'))) return null;
  const killed = new Map<number, string>();
  for (let pass = 0; pass < PASSES; pass++) {
    const found = await processesWith(`${name}=${start}`, list);
    if (found.length === 0) break;
    for (const pid of found) {
      if (!killed.has(pid)) killed.set(pid, await programOf(pid, list));
      kill(pid);
    }
    await sleep(PAUSE_MS);
  }
  return [...killed.values()];
}

async function programOf(pid: number, list: string): Promise<string> {
  const line = await readFile(join(list, String(pid), 'cmdline'), 'utf8').catch(() => '');
  const [program = ''] = line.split('\0'); // arguments may contain secrets
  return basename(program) || `process ${pid}`;
}

async function processesWith(variable: string, list: string): Promise<readonly number[]> {
  const names = await readdir(list).catch(() => []);
  const pids = names.map(Number).filter(pid => pid > 1 && pid !== process.pid);
  const has = async (pid: number) => {
    const environment = await readFile(join(list, String(pid), 'environ'), 'latin1').catch(() => ''); // empty for an ended process
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
