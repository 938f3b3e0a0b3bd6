import { useSyncExternalStore } from 'react';
import type { Frame } from '../../live/frame.js';
import { Framed } from '../../live/framed.js';
import type { Command } from '../../live/keys.js';
import type { Store } from '../../store.js';

export interface Shown {
  readonly frame: Frame;
  readonly takesKeys: boolean;
}

interface Props {
  readonly store: Store<Shown>;
  readonly onCommand: (command: Command) => void;
}

/** The live view of a session that is answered. */
export function App({ store, onCommand }: Props) {
  return <Framed {...useSyncExternalStore(store.subscribe, store.snapshot)} onCommand={onCommand} />;
}
