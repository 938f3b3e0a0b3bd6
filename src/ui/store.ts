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
