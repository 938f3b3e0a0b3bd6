import { errnoOf } from '../util/errors.js';

/** ESRCH: the group has ended. EPERM: macOS reports it for an ended group that was not yet waited for. */
const GONE = new Set(['ESRCH', 'EPERM']);

export function signalGroup({ pid }: { readonly pid?: number | undefined }, signal: NodeJS.Signals): void {
  if (pid !== undefined) signalProcess(-pid, signal);
}

/** Sends a signal to a process, or with a negative number to a group, unless it has ended. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!GONE.has(errnoOf(error))) throw error;
  }
}
