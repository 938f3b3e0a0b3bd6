import { nameOf, type Press } from '../keys/key-names.js';
import { pressedOnPage } from '../keys/scroll.js';
import { stepPrompt } from '../prompt/step.js';
import { type Command, commandOf } from './bindings.js';
import type { Overlay, State } from './state.js';

/** What is there after a press, and what else it asks for. */
export interface Pressed {
  readonly overlay: Overlay | null;
  /** To be searched for now. */
  readonly wanted?: string;
  /** To be done now. */
  readonly command?: Command;
}

interface Beneath {
  readonly focus: State['calls']['focus'];
  /** How far the help can be scrolled. */
  readonly most: number;
}

/** What a press makes of what stands between a person and the calls. */
export function pressOverlay(overlay: Overlay, press: Press, beneath: Beneath): Pressed {
  const name = nameOf(press);
  if (overlay.kind === 'help') return pressHelp(overlay, name, beneath);
  if (name === 'escape') return { overlay: null };
  if (name === 'enter') return { overlay: null, wanted: overlay.prompt.text };
  return { overlay: { ...overlay, prompt: stepPrompt(overlay.prompt, press) } };
}

/** Whoever reads of a key may press it: the help is gone then, and what it says is done. */
function pressHelp(
  help: Extract<Overlay, { kind: 'help' }>,
  name: string,
  { focus, most }: Beneath,
): Pressed {
  const pressed = pressedOnPage(name, help.scroll, most);
  if (typeof pressed === 'number') return { overlay: { ...help, scroll: pressed } };
  if (pressed === 'close') return { overlay: null };
  const command = commandOf(name, focus);
  return command ? { overlay: null, command } : { overlay: help };
}
