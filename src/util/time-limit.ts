import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { type Context, createContext, Script } from 'node:vm';
import { LIMITS } from './limits.js';

/** With this part of its limit, work has used it up: a thread never gets all of the time. */
const USED = 0.9;

/** The time of an attempt is at most this many times that of the one before: a machine may be busy for a moment only. */
const MAX_GROWTH = 16;

export class TimeLimitError extends Error {
  constructor(limitMs: number) {
    super(`took longer than ${limitMs} ms`);
  }
}

const callWork = new Script('work()');

let room: Context | undefined;

/**
 * Runs synchronous work with a limit of CPU time, since an untrusted `pattern` can run practically forever (threats, row 22). Within the
 * process only the watchdog of `node:vm` can stop it; no untrusted code is evaluated. The watchdog measures wall time: if the process
 * got less CPU time than the limit, the work runs again with as much more time as it needs then.
 */
export function withTimeLimit<T>(work: () => T, limitMs = LIMITS.validateMs.value): T {
  let timeoutMs = limitMs;
  for (;;) {
    const before = process.cpuUsage();
    try {
      return watched(work, timeoutMs);
    } catch (error) {
      if (!isTimeout(error)) throw error;
    }
    const { user, system } = process.cpuUsage(before);
    const usedMs = (user + system) / 1_000;
    if (usedMs >= limitMs * USED) throw new TimeLimitError(limitMs);
    timeoutMs = Math.ceil(timeoutMs * Math.min(MAX_GROWTH, Math.max(2, limitMs / usedMs)));
  }
}

function watched<T>(work: () => T, timeout: number): T {
  const results: T[] = [];
  room ??= createContext(Object.create(null));
  room['work'] = () => {
    results.push(work());
  };
  reserveFiles();
  for (const file of reserved.splice(0)) closeSync(file);
  try {
    callWork.runInContext(room, { timeout });
    return results[0] as T;
  } finally {
    try {
      reserveFiles();
    } catch {} // the next call tries again
  }
}

/** More files than the watchdog opens. */
const WATCHDOG_FILES = 8;

/** Open files that are closed for the watchdog: if it cannot open its own, Node ends the process (threats, row 33). */
const reserved: number[] = [];

/** @throws if no more files can be opened */
function reserveFiles(): void {
  while (reserved.length < WATCHDOG_FILES) reserved.push(openSync(devNull, 'r'));
}

function isTimeout(error: unknown): boolean {
  // The error comes from the other context, so `instanceof Error` fails.
  return (
    typeof error === 'object' &&
    error !== null &&
    'code' in error &&
    error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT'
  );
}
