import type { Scene, Size } from './frame.js';

export interface LiveState {
  readonly scene: Scene;
  readonly size: Size;
}

/** What the live view shows at the moment. Changes from outside come in here; React only looks. */
export interface LiveStore {
  readonly subscribe: (listener: () => void) => () => void;
  readonly snapshot: () => LiveState;
  readonly set: (change: Partial<LiveState>) => void;
}

export function createLiveStore(initial: LiveState): LiveStore {
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
