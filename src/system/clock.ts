export interface Clock {
  /** Monotonic milliseconds, so that changes of the system time do not affect deadlines. */
  now(): number;
  /** The part of {@link now} in which this process could run; all of it if that is not measured. */
  runnable(): number;
  wall(): Date;
  /** Calls back once after `ms` milliseconds. Returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** Maximum delay of a timer in Node.js, which fires longer ones at once. */
const MAX_MS = 2 ** 31 - 1;

/** After a blocked event loop, input that has arrived is handled before a time limit ends the wait for it. */
export const systemClock: Clock = {
  now: () => performance.now(),
  runnable: () => performance.now(),
  wall: () => new Date(),
  after(ms, callback) {
    let timer: NodeJS.Timeout;
    let due: NodeJS.Immediate | undefined;
    const end = () => {
      due = setImmediate(callback);
    };
    const wait = (left: number) => {
      timer = setTimeout(() => (left > MAX_MS ? wait(left - MAX_MS) : end()), Math.min(left, MAX_MS));
    };
    wait(ms);
    return () => {
      clearTimeout(timer);
      clearImmediate(due);
    };
  },
};

export interface WaitOptions {
  readonly clock?: Clock;
  /** Ends the wait early. */
  readonly signal?: AbortSignal;
}

/** Waits at most `ms` milliseconds for `work`; false on timeout. */
export async function finishedWithin(
  work: Promise<unknown>,
  ms: number,
  { clock = systemClock, signal }: WaitOptions = {},
): Promise<boolean> {
  let end = () => {};
  const over = new Promise<false>(resolve => {
    end = () => resolve(false);
  });
  const cancel = clock.after(ms, end);
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  try {
    return await Promise.race([work.then(() => true), over]);
  } finally {
    cancel();
    signal?.removeEventListener('abort', end);
  }
}

/** Resolves after `ms` milliseconds, or when the signal is aborted. */
export async function sleep(ms: number, options?: WaitOptions): Promise<void> {
  await finishedWithin(new Promise(() => {}), ms, options);
}

/** Runs work soon after a request, at most once in `everyMs`, and never synchronously. */
export function throttled(clock: Clock, everyMs: number, work: () => void) {
  let last = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | null = null;
  return {
    request() {
      cancel ??= clock.after(Math.max(0, last + everyMs - clock.now()), () => {
        cancel = null;
        last = clock.now();
        work();
      });
    },
    stop() {
      cancel?.();
    },
  };
}

/** How often a runnable clock measures, in ms. */
const TICK_MS = 4;

/** The most time between two measurements that counts, in ms: in the rest, this process could not run. */
const MAX_TICK_MS = 6;

interface Wait {
  readonly due: number;
  readonly callback: () => void;
}

/**
 * A clock whose time limits count only the time in which this process could run, for verdicts on slowness, absence and order: it nearly
 * stands still while other processes use the CPU, or while a computation blocks the event loop. What has arrived is read before a
 * time limit ends the wait for it. It measures only while something waits.
 */
export function createRunnableClock(): Clock {
  const waits = new Set<Wait>();
  let counted = 0;
  let countedAt = performance.now();
  let ticker: NodeJS.Timeout | undefined;
  const runnable = () => {
    const passed = performance.now() - countedAt;
    return counted + (ticker ? Math.min(passed, MAX_TICK_MS) : passed);
  };
  const count = () => {
    counted = runnable();
    countedAt = performance.now();
  };
  const tick = () => {
    // Due at the last tick: since then, the event loop has read what had arrived.
    const due = [...waits].filter(wait => wait.due <= counted).sort((one, other) => one.due - other.due);
    count();
    if (due.length > 0) setImmediate(end, due);
  };
  const end = (due: readonly Wait[]) => {
    for (const wait of due)
      if (waits.has(wait)) {
        remove(wait);
        wait.callback();
      }
  };
  const add = (wait: Wait) => {
    if (waits.size === 0) {
      count();
      ticker = setInterval(tick, TICK_MS);
    }
    waits.add(wait);
  };
  const remove = (wait: Wait) => {
    if (!waits.delete(wait) || waits.size > 0) return;
    count();
    clearInterval(ticker);
    ticker = undefined;
  };
  return {
    ...systemClock,
    runnable,
    after(ms, callback) {
      const wait = { due: runnable() + ms, callback };
      add(wait);
      return () => remove(wait);
    },
  };
}
