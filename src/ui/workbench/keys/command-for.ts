import { nameOf, type Press } from '../../keys/key-names.js';
import { isFormKey, wantsRun } from '../form/index.js';
import type { State } from '../state/state.js';
import { type Command, commandOf } from './bindings.js';
import { placesOf } from './places.js';

/** What a press asks for where one is; nothing where it is typed into a form. */
export function commandFor(press: Press, state: State): Command | undefined {
  const { page, filling } = state;
  if (page === 'form' && filling && wantsRun(filling.form, press)) return 'runForm';
  return commandOf(nameOf(press), placesOf(state));
}

/** Whether a press is a key where one is, and no text. */
export function isKeyIn(state: State, press: Press): boolean {
  return commandFor(press, state) !== undefined || (state.page === 'form' && isFormKey(press));
}
