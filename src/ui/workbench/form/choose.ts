import type { ChoiceField, VariantsField } from './field.js';
import type { TypingCommand } from './typing.js';
import { choiceWord } from './words.js';

/** Which of them is chosen after a key; null is none, which only what is optional can be. */
export function step(
  field: ChoiceField | VariantsField,
  command: TypingCommand,
  isOptional: boolean,
): number | null {
  const last = (field.kind === 'choice' ? field.values.length : field.variants.length) - 1;
  if (command === 'home') return 0;
  if (command === 'end') return last;
  if (command === 'left') return around(field.at ?? last + 1, -1, last, isOptional);
  if (command === 'right') return around(field.at ?? -1, 1, last, isOptional);
  return isOptional ? null : field.at;
}

/** Beyond either end comes none, where that may be, then the other end. */
function around(at: number, by: 1 | -1, last: number, isOptional: boolean): number | null {
  const next = at + by;
  if (next >= 0 && next <= last) return next;
  if (isOptional) return null;
  return by > 0 ? 0 : last;
}

/** The next one that starts so; the same where none does. */
export function startingWith(field: ChoiceField, typed: string): number | null {
  const { values, at } = field;
  const wanted = typed.toLowerCase();
  const from = (at ?? -1) + 1;
  const isMeant = (value: unknown) => choiceWord(value).toLowerCase().startsWith(wanted);
  const after = values.findIndex((value, index) => index >= from && isMeant(value));
  const first = after < 0 ? values.findIndex(isMeant) : after;
  return first < 0 ? at : first;
}
