import { type Key, render, Text } from 'ink';
import { useLayoutEffect, useSyncExternalStore } from 'react';
import { beforeForcedEnd } from '../../system/process.js';
import { useKeys } from '../keys/use-keys.js';
import { type Store, unbounded } from '../terminal.js';

export interface Shown {
  /** Cut to the terminal already. */
  readonly rows: readonly string[];
}

interface AppProps {
  readonly store: Store<Shown>;
  readonly onPress: (input: string, key: Key) => void;
  /** Called when the screen is unmounted, for whatever reason. */
  readonly onLeave: () => void;
}

function App({ store, onPress, onLeave }: AppProps) {
  const { rows } = useSyncExternalStore(store.subscribe, store.snapshot);
  useKeys(onPress);
  useLayoutEffect(() => onLeave, [onLeave]);
  return <Text wrap="truncate">{rows.map(row => row || ' ').join('\n')}</Text>;
}

/** Draws the rows of the store with Ink until it is closed, or a second signal ends this process. */
export function inkView(
  props: AppProps,
  { stdin, stdout }: { readonly stdin: NodeJS.ReadStream; readonly stdout: NodeJS.WriteStream },
) {
  const options = { stdin, stdout: unbounded(stdout), exitOnCtrlC: false, patchConsole: false };
  const view = render(<App {...props} />, options);
  const forget = beforeForcedEnd(() => view.unmount());
  return {
    async close(): Promise<void> {
      const over = view.waitUntilExit();
      view.unmount();
      await over;
      forget();
    },
  };
}
