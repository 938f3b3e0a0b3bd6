import { type Key, render, Text } from 'ink';
import { useLayoutEffect, useSyncExternalStore } from 'react';
import { beforeForcedEnd } from '../../system/exit.js';
import { useKeys } from '../keys/use-keys.js';
import { type Store, unbounded } from '../terminal.js';

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
function App({ store, onPress, onLeave }: AppProps) {
  const { rows } = useSyncExternalStore(store.subscribe, store.snapshot);
  useKeys(onPress);
  useLayoutEffect(() => onLeave, [onLeave]);
  return <Text wrap="truncate">{rows.map(row => row || ' ').join('\n')}</Text>;
}

interface View {
  close(): Promise<void>;
}

/** Draws what the store holds, with Ink, until it is closed, or this process is ended by force. */
export function inkView(
  props: AppProps,
  { stdin, stdout }: { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream },
): View {
  const view = render(<App {...props} />, {
    stdin,
    stdout: unbounded(stdout),
    exitOnCtrlC: false,
    patchConsole: false,
  });
  const forget = beforeForcedEnd(() => view.unmount());
  return {
    async close() {
      const over = view.waitUntilExit();
      view.unmount();
      await over;
      forget();
    },
  };
}
