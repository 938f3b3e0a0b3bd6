import type { Key } from 'ink';
import type { Press } from './form.js';
import type { TypingCommand } from './typing.js';

export type FormCommand =
  | TypingCommand
  | 'up'
  | 'down'
  | 'next'
  | 'previous'
  | 'pageUp'
  | 'pageDown'
  | 'enter'
  | 'newline'
  | 'remove'
  | 'json'
  | 'run';

interface Binding {
  readonly command: FormCommand;
  readonly keys: readonly (keyof Key)[];
  /** A character with Ctrl. */
  readonly ctrl: string;
  /** As it is shown. */
  readonly label: string;
  readonly does: string;
}

const binding = (
  command: FormCommand,
  keys: readonly (keyof Key)[],
  ctrl: string,
  label: string,
  does: string,
): Binding => ({ command, keys, ctrl, label, does });

/** Every key of a form. Ink cannot tell Backspace from Delete where a terminal sends DEL for the first. */
export const FORM_BINDINGS: readonly Binding[] = [
  binding('up', ['upArrow'], '', '↑', 'the field above; in JSON the line above'),
  binding('down', ['downArrow'], '', '↓', 'the field below; in JSON the line below'),
  binding('next', ['tab'], '', 'Tab', 'the next field'),
  binding('previous', [], '', 'Shift-Tab', 'the field before'),
  binding('enter', ['return'], '', '⏎', 'the next field; adds where it says so; runs on Run'),
  binding('left', ['leftArrow'], '', '←', 'left in a text; the choice before'),
  binding('right', ['rightArrow'], '', '→ Space', 'right in a text; the next choice'),
  binding('home', ['home'], '', 'Home', 'start of the text; the first choice'),
  binding('end', ['end'], '', 'End', 'end of the text; the last choice'),
  binding('pageUp', ['pageUp'], '', 'PgUp', 'ten fields up'),
  binding('pageDown', ['pageDown'], '', 'PgDn', 'ten fields down'),
  binding('erase', ['backspace', 'delete'], '', 'Backspace', 'erases a character'),
  binding('eraseWord', [], 'w', 'Ctrl-W', 'erases a word'),
  binding('eraseLine', [], 'u', 'Ctrl-U', 'erases up to the start of the line'),
  binding('newline', [], 'j', 'Ctrl-J', 'a line break in a text'),
  binding(
    'remove',
    [],
    'd',
    'Ctrl-D',
    'removes an item or an optional value; an empty field sends an empty text',
  ),
  binding('json', [], 'e', 'Ctrl-E', 'all of it as JSON, and back'),
  binding('run', [], 'r', 'Ctrl-R', 'runs, from any field'),
];

/** What a key press asks for; null where it types, or means nothing. */
export function formCommandOf({ input, key }: Press): FormCommand | null {
  if (key.eventType === 'release') return null;
  if (key.tab && key.shift) return 'previous';
  if (input === '\n') return 'newline';
  const isMeant = ({ keys, ctrl }: Binding) =>
    keys.some(name => key[name] === true) || (key.ctrl && ctrl !== '' && input === ctrl);
  return FORM_BINDINGS.find(isMeant)?.command ?? null;
}

export function isFormKey(press: Press): boolean {
  return formCommandOf(press) !== null;
}

/** What a press types: a paste may be long, and has line breaks as the terminal sends them. */
export function typedBy({ input, key }: Press): string {
  if (key.ctrl || key.meta || key.eventType === 'release') return '';
  return input.replaceAll(/\r\n?/g, '\n');
}
