import { readdir, readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';

/** Passes over the processes, and the pause between two, in ms: one may start another meanwhile, and takes a moment to end. */
const [PASSES, PAUSE_MS] = [50, 10];

/**
 * Kills the processes that have this variable in their environment, such as those of a command that left its process group. Works
 * where `/proc` lists the processes. Returns how many it killed.
 */
export async function killProcessesWith(name: string, value: string): Promise<number> {
  const killed = new Set<number>();
  for (let pass = 0; pass < PASSES; pass++) {
    const found = await processesWith(`${name}=${value}`);
    if (found.length === 0) break;
    for (const pid of found) {
      killed.add(pid);
      kill(pid);
    }
    await setTimeout(PAUSE_MS);
  }
  return killed.size;
}

async function processesWith(variable: string): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.map(Number).filter(pid => pid > 1 && pid !== process.pid);
  const has = async (pid: number) => {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''); // empty for an ended process
    return environment.split('\0').includes(variable);
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
