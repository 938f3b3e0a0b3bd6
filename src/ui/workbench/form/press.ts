import { edit, type } from './edit.js';
import { focusedRow, focusOn, isOnRun } from './focus.js';
import type { Form, Press } from './form.js';
import { type FormCommand, formCommandOf, typedBy } from './keys.js';
import { pressRaw, toggleRaw } from './raw.js';
import { grow, remove } from './reshape.js';
import { isTyping } from './typing.js';

/** Whether this press asks for the call to be made: Enter on `Run`, Ctrl-R anywhere. */
export function wantsRun(form: Form, press: Press): boolean {
  const command = formCommandOf(press);
  return command === 'run' || (command === 'enter' && isOnRun(form));
}

/** The form after a key. Pure. What arrives in one piece may be a paste; with one line feed, at its end, it is a line and Enter. */
export function pressForm(form: Form, press: Press): Form {
  const [, line] = /^([^\r\n]+)\r$/.exec(press.input) ?? [];
  if (line === undefined || form.mode === 'raw') return pressOne(form, press);
  const typed = pressOne(form, { ...press, input: line });
  return stepFields(typed, 'enter');
}

function pressOne(form: Form, press: Press): Form {
  const command = formCommandOf(press);
  if (command === 'json') return toggleRaw(form);
  const typed = command === 'newline' ? '\n' : command === null ? typedBy(press) : '';
  if (form.mode === 'raw') return pressRaw(form, command, typed);
  return typed === '' ? stepFields(form, command) : type(form, typed);
}

const MOVES: Readonly<Partial<Record<FormCommand, number>>> = {
  up: -1,
  down: 1,
  previous: -1,
  next: 1,
  pageUp: -10,
  pageDown: 10,
};

function stepFields(form: Form, command: FormCommand | null): Form {
  const move = command === null ? undefined : MOVES[command];
  if (move !== undefined) return focusOn(form, form.focus + move);
  const row = focusedRow(form);
  if (!row || command === null) return form;
  if (command === 'enter') return grow(form, row) ?? focusOn(form, form.focus + 1);
  if (command === 'remove') return remove(form, row);
  return isTyping(command) ? edit(form, row, command) : form;
}
