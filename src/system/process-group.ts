import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { errnoOf } from './errno.js';

export type GroupLeader = ChildProcessByStdio<null, Readable, Readable>;
export type SpokenToLeader = ChildProcessByStdio<Writable, Readable, Readable>;

export interface CommandOptions {
  /** Run by `sh -c`. */
  readonly command: string;
  readonly cwd?: string;
  /** Added to ours. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a command in a process group of its own, so that what it starts can be ended with it. */
export function spawnGroup({ command, cwd, env }: CommandOptions): GroupLeader {
  return spawn('sh', ['-c', command], {
    cwd,
    env: { ...process.env, ...env, RAP_EMBEDDED: '1' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The same for a command that is talked to over its stdin and stdout. */
export function spawnSpokenTo({ command, cwd, env }: CommandOptions): SpokenToLeader {
  return spawn('sh', ['-c', command], {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** ESRCH: the group has ended. EPERM: macOS says so of one that has ended and was not yet waited for. */
const GONE = new Set(['ESRCH', 'EPERM']);

/** Sends a signal to a whole group; one that has ended already is fine. */
export function signalGroup({ pid }: { readonly pid?: number | undefined }, signal: NodeJS.Signals): void {
  if (pid !== undefined) signalProcess(-pid, signal);
}

/** Sends a signal to a process, or with a negative number to a group; one that has ended already is fine. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!GONE.has(errnoOf(error))) throw error;
  }
}
