import { nameOf, type Press } from '../keys/key-names.js';

/** A line that is typed. */
export interface Typed {
  readonly text: string;
  /** Characters before the cursor. */
  readonly cursor: number;
}

/** A line of text after a key. No control character gets into it; what ends a line is for whoever reads the keys. */
export function stepPrompt<Prompt extends Typed>(prompt: Prompt, press: Press): Prompt {
  const { text, cursor } = prompt;
  const at = (to: number) => ({ ...prompt, cursor: Math.max(0, Math.min(text.length, to)) });
  switch (nameOf(press)) {
    case 'left':
      return at(before(text, cursor));
    case 'right':
      return at(after(text, cursor));
    case 'home':
    case 'ctrl+a':
      return at(0);
    case 'end':
    case 'ctrl+e':
      return at(text.length);
    case 'erase':
      return without(prompt, before(text, cursor));
    case 'ctrl+u':
      return without(prompt, 0);
    case 'ctrl+w':
      return without(prompt, text.slice(0, cursor).trimEnd().lastIndexOf(' ') + 1);
    default:
      return press.key.ctrl || press.key.meta ? prompt : typed(prompt, press.input);
  }
}

function typed<Prompt extends Typed>(prompt: Prompt, input: string): Prompt {
  const { text, cursor } = prompt;
  const piece = [...input].filter(character => character >= ' ').join('');
  return {
    ...prompt,
    text: text.slice(0, cursor) + piece + text.slice(cursor),
    cursor: cursor + piece.length,
  };
}

function without<Prompt extends Typed>(prompt: Prompt, from: number): Prompt {
  const { text, cursor } = prompt;
  return { ...prompt, text: text.slice(0, from) + text.slice(cursor), cursor: from };
}

/** A character may be two units long. */
function before(text: string, cursor: number): number {
  return cursor - ([...text.slice(0, cursor)].at(-1)?.length ?? 0);
}

function after(text: string, cursor: number): number {
  return cursor + ([...text.slice(cursor, cursor + 2)][0]?.length ?? 0);
}
