import { type ChildProcess, spawnSync } from 'node:child_process';
import { system32 } from './system32.js';

/** What a signal is sent to. */
export type Signalled = Pick<ChildProcess, 'pid' | 'exitCode' | 'signalCode'>;

/** What signalling needs of the operating system. */
export interface ProcessControl {
  readonly platform: NodeJS.Platform;
  readonly kill: (pid: number, signal: NodeJS.Signals) => void;
  /** Runs a program; returns its stdout, or null if it could not be started or failed. */
  readonly run: (program: string, args: readonly string[]) => string | null;
}

const HERE: ProcessControl = {
  platform: process.platform,
  kill: (pid, signal) => void process.kill(pid, signal),
  run(program, args) {
    const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', windowsHide: true });
    return status === 0 ? stdout : null;
  },
};

/** Signals a process that was started alone, and what it started. Windows has no signals: there the first one ends them. */
export function signalGroup(child: Signalled, signal: NodeJS.Signals, control: ProcessControl = HERE): void {
  if (child.pid === undefined) return;
  if (control.platform === 'win32') endTree(child, child.pid, control);
  else signalProcess(-child.pid, signal, control);
}

/** Signals a process of our own group, and its descendants. Without a list of processes (`ps`) only the process itself. */
export function signalTree(child: Signalled, signal: NodeJS.Signals, control: ProcessControl = HERE): void {
  if (child.pid === undefined) return;
  if (control.platform === 'win32') endTree(child, child.pid, control);
  else for (const pid of familyOf(child.pid, control)) signalProcess(pid, signal, control);
}

/** A process and its descendants. */
function familyOf(pid: number, { run }: ProcessControl): readonly number[] {
  const list = run('ps', ['-A', '-o', 'pid=,ppid=']) ?? '';
  const processes = list.split('\n').map(line => line.trim().split(/\s+/).map(Number));
  const found = [pid];
  for (const parent of found) // grows during the loop
    found.push(...processes.flatMap(([own = 0, its]) => (its === parent ? [own] : [])));
  return found;
}

/** The number of an ended process may be that of another one; what it left running is not found. */
function endTree({ exitCode, signalCode }: Signalled, pid: number, control: ProcessControl): void {
  if (exitCode !== null || signalCode !== null) return;
  const isDone = control.run(system32('taskkill.exe'), ['/pid', String(pid), '/T', '/F']) !== null;
  if (!isDone) signalProcess(pid, 'SIGKILL', control);
}

/** A process, or with a negative number a group, may have ended: this is a cleanup, which never throws. */
function signalProcess(pid: number, signal: NodeJS.Signals, { kill }: ProcessControl): void {
  try {
    kill(pid, signal);
  } catch {
    // ESRCH: it has ended. EPERM: macOS reports it for an ended group that was not yet waited for.
  }
}
