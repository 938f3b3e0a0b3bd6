import { type Key, Text } from 'ink';
import { useLayoutEffect, useSyncExternalStore } from 'react';
import { useKeys } from '../keys/use-keys.js';
import type { Store } from '../store.js';

export interface Shown {
  /** Cut to the terminal already. */
  readonly rows: readonly string[];
}

export interface AppProps {
  readonly store: Store<Shown>;
  readonly onPress: (input: string, key: Key) => void;
  /** Called when the screen is taken down, however that comes about. */
  readonly onLeave: () => void;
}

/** A whole screen: rows from the store, keys to whoever listens. */
export function App({ store, onPress, onLeave }: AppProps) {
  const { rows } = useSyncExternalStore(store.subscribe, store.snapshot);
  useKeys(onPress);
  useLayoutEffect(() => onLeave, [onLeave]);
  return <Text wrap="truncate">{rows.map(row => row || ' ').join('\n')}</Text>;
}
