import type { Digit, PickerCommand } from '../../live/keys.js';

const COMMANDS: Readonly<Record<string, PickerCommand>> = {
  up: 'up',
  k: 'up',
  down: 'down',
  j: 'down',
  home: 'first',
  end: 'last',
  enter: 'pick',
};

/** What a key does to a list of choices. */
export function pickerCommandOf(name: string): PickerCommand | undefined {
  return /^\d$/.test(name) ? (name as Digit) : COMMANDS[name];
}
