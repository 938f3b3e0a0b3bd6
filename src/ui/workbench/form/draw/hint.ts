import type { GroupField, TextField } from '../field.js';
import type { Row } from '../stops.js';

/** What can be done in the focused field beyond typing; nothing where that is plain. */
export function hintOf({ kind, child }: Row): string {
  const { field, isRequired, isExtra } = child;
  if (kind === 'add') return '⏎ adds an item';
  const out = isExtra ? 'Ctrl-D takes it out' : isRequired ? '' : 'Ctrl-D leaves it out';
  if ('text' in field) return isExtra ? out : emptyHint(field, isRequired);
  if ('at' in field) return together('Space chooses', field.at === null && !isExtra ? '' : out);
  return field.kind === 'object' ? objectHint(field, out) : together('⏎ adds an item', arrayHint(field, out));
}

/** An empty text is nothing, unless it is told to be one. */
function emptyHint({ kind, text, sendsEmpty }: TextField, isRequired: boolean): string {
  if (text !== '') return '';
  if (sendsEmpty) return 'sends "" · Ctrl-D does not';
  return together(isRequired ? '' : 'empty: left out', kind === 'text' ? 'Ctrl-D sends ""' : '');
}

function objectHint({ isPresent }: GroupField, out: string): string {
  return isPresent ? out : together('⏎ adds it', out.startsWith('Ctrl-D takes') ? out : '');
}

function arrayHint({ isPresent }: GroupField, out: string): string {
  return isPresent || out === '' ? out : 'Ctrl-D sends []';
}

function together(...words: readonly string[]): string {
  return words.filter(word => word !== '').join(' · ');
}
