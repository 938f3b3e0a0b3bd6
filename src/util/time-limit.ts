import { type Context, createContext, Script } from 'node:vm';
import { LIMITS } from './limits.js';
import { withSpareFiles } from './spare-files.js';

/** With this part of its limit, work has used it up: a thread never gets all of the time. */
const SPENT_SHARE = 0.9;

/** Each attempt has at least twice the time of the one before, and at most so many times: a machine may be busy for a moment only. */
const MAX_GROWTH = 16;

/** The last one has at least 512 times the limit. */
const MAX_ATTEMPTS = 10;

export class TimeLimitError extends Error {
  constructor(limitMs: number) {
    super(`took longer than ${limitMs} ms`);
  }
}

/**
 * Runs synchronous work with a limit of CPU time, since an untrusted `pattern` can run practically forever (threats, row 22). Within the
 * process only the watchdog of `node:vm` can stop it; no untrusted code is evaluated. The watchdog measures wall time: if the process
 * got less CPU time than the limit, the work runs again with as much more time as it needs then.
 * @param work may be stopped anywhere and run again, so it must be repeatable
 * @throws TimeLimitError
 */
export function withTimeLimit<T>(work: () => T, limitMs = LIMITS.validateMs.value): T {
  let timeoutMs = limitMs;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const before = process.cpuUsage();
    try {
      return runWatched(work, timeoutMs);
    } catch (error) {
      if (!isTimeout(error)) throw error;
    }
    const { user, system } = process.cpuUsage(before);
    const usedMs = (user + system) / 1_000;
    if (usedMs >= limitMs * SPENT_SHARE) break;
    timeoutMs = Math.ceil(timeoutMs * Math.min(MAX_GROWTH, Math.max(2, limitMs / usedMs)));
  }
  throw new TimeLimitError(limitMs);
}

const callWork = new Script('work()');

/** Created by the first work. */
let sharedContext: Context | undefined;

function runWatched<T>(work: () => T, timeout: number): T {
  let result: T | undefined;
  sharedContext ??= createContext(Object.create(null));
  const context = sharedContext;
  context['work'] = () => {
    result = work();
  };
  withSpareFiles(() => callWork.runInContext(context, { timeout }));
  return result as T;
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
