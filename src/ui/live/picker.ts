import type { UserChoice } from '../../protocol/callbacks/index.js';
import type { Line } from '../../story/line.js';
import type { PickerCommand } from './keys.js';

/** What can be put to a person as a list of choices. */
export type Askable = Pick<UserChoice, 'prompt' | 'choices' | 'default'>;

/** A question on the screen, and where its cursor stands. */
export interface Picker<Question extends Askable = UserChoice> {
  readonly question: Question;
  /** The index of a choice. */
  readonly selected: number;
  /** Digits typed one after another: those of an index. */
  readonly typed: string;
  /** Who asks, where there are several who might. */
  readonly asker?: Line;
}

/** Its default is selected at first. */
export function openPicker<Question extends Askable>(question: Question): Picker<Question> {
  return { question, selected: question.default, typed: '' };
}

/** The picker after a key. Pure; what `pick` and `dismiss` mean is decided where the question was asked. */
export function stepPicker<P extends Picker<Askable>>(picker: P, command: PickerCommand): P {
  const last = picker.question.choices.length - 1;
  const select = (selected: number) => ({ ...picker, selected, typed: '' });
  switch (command) {
    case 'up':
      return select(Math.max(0, picker.selected - 1));
    case 'down':
      return select(Math.min(last, picker.selected + 1));
    case 'first':
      return select(0);
    case 'last':
      return select(last);
    case 'pick':
    case 'dismiss':
      return picker;
    default:
      return typeDigit(picker, command);
  }
}

/** `1` and then `2` is 12 where there are so many choices, and 2 where there are not. */
function typeDigit<P extends Picker<Askable>>(picker: P, digit: string): P {
  const { choices } = picker.question;
  const typed = [picker.typed + digit, digit].find(digits => Number(digits) < choices.length);
  return typed === undefined ? picker : { ...picker, typed, selected: Number(typed) };
}
