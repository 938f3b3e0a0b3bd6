import { useSyncExternalStore } from 'react';
import type { Theme } from '../../dress/theme.js';
import { frameOf } from './frame.js';
import { Framed } from './framed.js';
import type { Command } from './keys.js';
import type { LiveStore } from './store.js';

interface Props {
  readonly store: LiveStore;
  readonly theme: Theme;
  readonly onCommand: (command: Command) => void;
}

/** The live view: what has happened so far, then what the human sees beside what the LLM gets, or what a person is asked. */
export function App({ store, theme, onCommand }: Props) {
  const { scene, size, takesKeys } = useSyncExternalStore(store.subscribe, store.snapshot);
  return <Framed frame={frameOf(scene, size, theme)} takesKeys={takesKeys} onCommand={onCommand} />;
}
