/** The state of a screen, which only its reducer changes. */
export interface Store<State, Action> {
  /** The current state, also between two keys that arrive at once, when React has not drawn yet. */
  readonly state: () => State;
  readonly dispatch: (action: Action) => void;
  /** Calls the listener after each change. Returns how to stop. */
  readonly subscribe: (listener: () => void) => () => void;
}

export function createStore<State, Action>(
  reduce: (state: State, action: Action) => State,
  initial: State,
): Store<State, Action> {
  const listeners = new Set<() => void>();
  let state = initial;
  return {
    state: () => state,
    dispatch(action) {
      const next = reduce(state, action);
      if (next === state) return;
      state = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
