import { existsSync, readFileSync } from 'node:fs';

/** Whether a process runs; one that has ended, and that no one has waited for, does not. Needs no `ps`, which slim images do not have. */
export function isRunning(pid: number): boolean {
  if (!existsSync('/proc/self')) return canBeSignalled(pid);
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

function canBeSignalled(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
