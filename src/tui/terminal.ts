import type { Clock } from '../system/clock.js';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** With fewer cells nothing fits. */
const LEAST: Size = { columns: 40, rows: 8 };

export function isLargeEnough({ columns, rows }: Size): boolean {
  return columns >= LEAST.columns && rows >= LEAST.rows;
}

/** In the place of everything else, as far as it fits. */
export function tooSmallWords({ columns, rows }: Size): string {
  return `${LEAST.columns}×${LEAST.rows} is needed, this is ${columns}×${rows}`.slice(
    0,
    Math.max(0, columns),
  );
}

export function sizeOf({ columns, rows }: NodeJS.WriteStream): Size {
  return { columns, rows };
}

/** Ink clears the scrollback (CSI 3J) where it believes a frame to be higher than the terminal; frames are cut to it here. */
export function unbounded(stdout: NodeJS.WriteStream): NodeJS.WriteStream {
  return Object.create(stdout, { rows: { value: Number.MAX_SAFE_INTEGER } });
}

/** What a view shows at the moment. Changes from outside come in here; React only looks. */
export interface Store<State> {
  readonly subscribe: (listener: () => void) => () => void;
  readonly snapshot: () => State;
  readonly set: (change: Partial<State>) => void;
}

export function createStore<State>(initial: State): Store<State> {
  const listeners = new Set<() => void>();
  let state = initial;
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    snapshot: () => state,
    set(change) {
      state = { ...state, ...change };
      for (const listener of listeners) listener();
    },
  };
}

interface Throttled {
  /** Once more, soon; any number of times until then is one. */
  ask(): void;
  stop(): void;
}

/** Work that is done whenever it is asked for, but never more often than every so many ms, and never within what asks for it. */
export function throttled(clock: Clock, everyMs: number, work: () => void): Throttled {
  let last = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | null = null;
  return {
    ask() {
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
