import type { Key } from 'ink';

/** What a key does to a question. */
export type PickerCommand = 'up' | 'down' | 'first' | 'last' | 'pick' | 'dismiss' | Digit;
export type Command = PickerCommand | 'open' | 'interrupt';

const DIGITS = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9'] as const;
export type Digit = (typeof DIGITS)[number];

interface Binding {
  readonly command: Command;
  /** Characters that mean it. */
  readonly characters: string;
  /** Keys that have no character. */
  readonly keys: readonly (keyof Key)[];
}

/** Every key of the live view. In raw mode Ctrl-C is a character as any other. */
const BINDINGS: readonly Binding[] = [
  { command: 'up', characters: 'k', keys: ['upArrow'] },
  { command: 'down', characters: 'j', keys: ['downArrow'] },
  { command: 'first', characters: '', keys: ['home'] },
  { command: 'last', characters: '', keys: ['end'] },
  { command: 'pick', characters: '\r\n', keys: ['return'] },
  { command: 'dismiss', characters: '', keys: ['escape'] },
  { command: 'open', characters: 'o', keys: [] },
  { command: 'interrupt', characters: '\u0003', keys: [] },
  ...DIGITS.map(digit => ({ command: digit, characters: digit, keys: [] })),
];

/** The commands of a key press. Several characters that arrive at once all count, but Ctrl-C only once: a second one ends by force. */
export function commandsOf(input: string, key: Key): readonly Command[] {
  if (key.ctrl) return input === 'c' ? ['interrupt'] : [];
  if (key.meta && !key.escape) return [];
  const pressed = BINDINGS.find(({ keys }) => keys.some(name => key[name] === true));
  if (pressed) return [pressed.command];
  const commands = [...input].flatMap(character => commandOf(character) ?? []);
  return commands.filter((each, at) => each !== 'interrupt' || commands.indexOf(each) === at);
}

function commandOf(character: string): Command | undefined {
  return BINDINGS.find(({ characters }) => characters.includes(character))?.command;
}
