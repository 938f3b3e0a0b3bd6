import { useSyncExternalStore } from 'react';
import type { Theme } from '../../dress/theme.js';
import { frameOf, redactFrame } from './frame.js';
import { Framed } from './framed.js';
import type { Command } from './keys.js';
import type { LiveStore } from './store.js';

interface Props {
  readonly store: LiveStore;
  readonly theme: Theme;
  /** Takes secrets out of what is shown (threats, row 25). */
  readonly redact?: (text: string) => string;
  readonly onCommand: (command: Command) => void;
}

/** The live view: what has happened so far, then what the human sees beside what the LLM gets, or what a person is asked. */
export function App({ store, theme, redact, onCommand }: Props) {
  const { scene, size, takesKeys } = useSyncExternalStore(store.subscribe, store.snapshot);
  const frame = redactFrame(frameOf(scene, size, theme), redact);
  return <Framed frame={frame} takesKeys={takesKeys} onCommand={onCommand} />;
}
