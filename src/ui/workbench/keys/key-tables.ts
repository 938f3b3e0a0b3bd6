import { type KeyTable, tablesOf } from '../../keys/key-lines.js';
import { FORM_BINDINGS } from '../form/index.js';
import { BINDINGS, type Place } from './bindings.js';

/** A form takes what is typed, so only these are keys there. */
const AROUND_A_FORM = [
  { label: 'Ctrl-T', does: 'run, though the arguments break the schema' },
  { label: 'Esc', does: 'back; what was typed stays' },
];

const IN_A_LINE = [
  { label: 'Tab', does: 'completes a path, as a shell does, or tells what it may be' },
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
};

/** Every key, place by place. @param first where one is */
export function keyTables(first: readonly Place[] = []): readonly KeyTable[] {
  return [
    ...tablesOf(BINDINGS, PLACES, first),
    { title: 'A form', keys: [...FORM_BINDINGS, ...AROUND_A_FORM] },
    { title: 'A line that is typed', keys: IN_A_LINE },
  ];
}
