import { type KeyTable, tablesOf } from '../../keys/key-lines.js';
import { FORM_BINDINGS } from '../form/index.js';
import { BINDINGS } from './bindings.js';

/** A form takes what is typed, so only these are keys there. */
const AROUND_A_FORM = [
  { label: 'Ctrl-T', does: 'run, though the arguments break the schema' },
  { label: 'Esc', does: 'back to the tools; what was typed stays' },
];

/** Every key, place by place. */
export const KEY_TABLES: readonly KeyTable[] = [
  ...tablesOf(BINDINGS, {
    everywhere: 'Everywhere',
    tools: 'Tools',
    calls: 'Calls',
    reading: 'Reading a call',
  }),
  { title: 'A form', keys: [...FORM_BINDINGS, ...AROUND_A_FORM] },
];
