import { type KeyTable, tablesOf } from '../../keys/key-lines.js';
import { FORM_BINDINGS } from '../form/index.js';
import { BINDINGS, type Place } from './bindings.js';

const IN_A_LINE = [
  { label: 'Tab', does: 'completes a path, or lists the candidates' },
  { label: '← →', does: 'a character to the left, or to the right' },
  { label: 'Home Ctrl-A', does: 'its start' },
  { label: 'End Ctrl-E', does: 'its end' },
  { label: 'Backspace', does: 'erases a character' },
  { label: 'Ctrl-W', does: 'erases a word' },
  { label: 'Ctrl-U', does: 'erases up to its start' },
  { label: '⏎', does: 'does it' },
  { label: 'Esc', does: 'leaves it' },
];

const PLACES: Readonly<Record<Place, string>> = {
  everywhere: 'Everywhere',
  tools: 'Tools',
  calls: 'Calls',
  reading: 'Reading a call',
  form: 'A form',
};

/** Those that fill it in stand before those around it. */
const IN_A_FORM = FORM_BINDINGS.map(binding => ({ ...binding, place: 'form' as const }));

/** Every key, place by place. @param first where one is */
export function keyTables(first: readonly Place[] = []): readonly KeyTable[] {
  return [
    ...tablesOf([...IN_A_FORM, ...BINDINGS], PLACES, first),
    { title: 'A line that is typed', keys: IN_A_LINE },
  ];
}
