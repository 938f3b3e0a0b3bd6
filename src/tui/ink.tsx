import { render, useStdin } from 'ink';
import { useEffect, useLayoutEffect, useSyncExternalStore } from 'react';
import { beforeForcedEnd } from '../system/process.js';
import { Screen, type Shown } from './components.js';
import { type Press, readSequence } from './keys.js';
import { type Store, unbounded } from './terminal.js';

interface AppProps {
  readonly store: Store<Shown>;
  readonly onPress: (press: Press) => void;
  /** Called when the screen is unmounted, for any reason. */
  readonly onLeave: () => void;
}

function App({ store, onPress, onLeave }: AppProps) {
  const shown = useSyncExternalStore(store.subscribe, store.snapshot);
  useKeys(onPress);
  useLayoutEffect(() => onLeave, [onLeave]);
  return <Screen {...shown} />;
}

/** Draws the frames of the store with Ink until the view is closed, or a second signal ends the process. */
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

/**
 * Calls `onPress` for each key, and for each piece of pasted text, in raw mode. Replaces Ink's `useInput`, which throws on unknown
 * sequences with a Ctrl modifier, and reports other unknown sequences as text.
 */
export function useKeys(onPress: (press: Press) => void, isActive = true): void {
  const { setRawMode, internal_eventEmitter: sequences } = useStdin();
  useEffect(() => {
    if (!isActive) return;
    setRawMode(true);
    return () => setRawMode(false);
  }, [isActive, setRawMode]);
  useEffect(() => {
    if (!isActive) return;
    const read = (sequence: string) => {
      const press = readSequence(sequence);
      if (press) onPress(press);
    };
    sequences.on('input', read);
    return () => void sequences.off('input', read);
  }, [isActive, sequences, onPress]);
}
