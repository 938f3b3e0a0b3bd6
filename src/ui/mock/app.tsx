import { Text, useInput } from 'ink';
import { useLayoutEffect, useSyncExternalStore } from 'react';
import type { Store } from '../store.js';
import { type Command, commandsOf } from './keys.js';

export interface Shown {
  /** Cut to the terminal already. */
  readonly rows: readonly string[];
}

interface Props {
  readonly store: Store<Shown>;
  readonly onCommand: (command: Command) => void;
  /** Called when the screen is taken down, however that comes about. */
  readonly onLeave: () => void;
}

/** The mock's screen: rows from the store, keys to whoever listens. */
export function App({ store, onCommand, onLeave }: Props) {
  const { rows } = useSyncExternalStore(store.subscribe, store.snapshot);
  useInput((input, key) => {
    for (const command of commandsOf(input, key)) onCommand(command);
  });
  useLayoutEffect(() => onLeave, [onLeave]);
  return <Text wrap="truncate">{rows.map(row => row || ' ').join('\n')}</Text>;
}
