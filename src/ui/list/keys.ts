import type { Key } from 'ink';
import { pressesIn } from '../keys/key-names.js';

export type Command =
  | 'up'
  | 'down'
  | 'first'
  | 'follow'
  | 'details'
  | 'pageUp'
  | 'pageDown'
  | 'help'
  | 'quit';

interface Binding {
  readonly command: Command;
  /** Characters that mean it. */
  readonly characters: string;
  /** Keys that have no character. */
  readonly keys: readonly (keyof Key)[];
  /** As it is shown. */
  readonly label: string;
  readonly does: string;
}

/** Every key of a list. */
export const BINDINGS: readonly Binding[] = [
  { command: 'up', characters: 'k', keys: ['upArrow'], label: '↑ k', does: 'select the call before' },
  { command: 'down', characters: 'j', keys: ['downArrow'], label: '↓ j', does: 'select the call after' },
  { command: 'first', characters: 'g', keys: ['home'], label: 'Home g', does: 'select the oldest call' },
  { command: 'follow', characters: 'G', keys: ['end'], label: 'End G', does: 'follow the newest call' },
  {
    command: 'details',
    characters: '\t',
    keys: ['return', 'tab'],
    label: '⏎ Tab',
    does: 'details of the call, or back to the list',
  },
  { command: 'pageUp', characters: '', keys: ['pageUp'], label: 'PgUp', does: 'scroll the details up' },
  {
    command: 'pageDown',
    characters: ' ',
    keys: ['pageDown'],
    label: 'PgDn Space',
    does: 'scroll the details down',
  },
  { command: 'help', characters: '?', keys: ['escape'], label: '?', does: 'these keys, or back' },
  { command: 'quit', characters: 'q', keys: [], label: 'q Ctrl-C', does: 'end' },
];

/** What a key press asks for; undefined where it means nothing here. */
export function commandOf(input: string, key: Key): Command | undefined {
  if (key.ctrl) return input === 'c' ? 'quit' : undefined;
  const isMeant = ({ characters, keys }: Binding) =>
    keys.some(name => key[name] === true) || (input.length === 1 && characters.includes(input));
  return BINDINGS.find(isMeant)?.command;
}

/** As {@link commandOf}, for several keys that arrive at once. */
export function commandsOf(input: string, key: Key): readonly Command[] {
  return pressesIn({ input, key }).flatMap(each => commandOf(each.input, each.key) ?? []);
}
