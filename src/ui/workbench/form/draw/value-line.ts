import type { Line } from '../../../../story/line.js';
import { quote, say } from '../../../../story/spans.js';
import { quietLine, typedLine } from '../../../prompt/text-window.js';
import type { ChoiceField, GroupField, TextField, VariantsField } from '../field.js';
import type { Row } from '../stops.js';
import { choiceWord, variantWord } from '../words.js';

/** What is in a field; `cursor` is null unless it is in focus. */
export function valueLine(row: Row, cursor: number | null, width: number): Line {
  const { field } = row.child;
  if (row.kind === 'add') return [];
  if ('text' in field) return textLine(field, cursor, width);
  return 'at' in field ? choiceLine(field, cursor !== null) : groupLine(field, cursor !== null);
}

function textLine(field: TextField, cursor: number | null, width: number): Line {
  const { text, sendsEmpty } = field;
  if (text === '' && sendsEmpty) return [...(cursor === null ? [] : [say(' ', 'cursor')]), say('""', 'dim')];
  if (cursor !== null) return typedLine({ text, cursor }, width);
  return quietLine(text, width);
}

/** Of what can be chosen, what was; arrows say that there is more to come by. */
function choiceLine(field: ChoiceField | VariantsField, isFocused: boolean): Line {
  const { at } = field;
  const count = field.kind === 'choice' ? field.values.length : field.variants.length;
  const word = at === null ? [say('–', 'dim')] : wordOf(field, at, isFocused);
  const place = at === null || count <= 2 ? [] : [say(`  ${at + 1} of ${count}`, 'dim')];
  return [
    say('‹ ', isFocused ? 'running' : 'dim'),
    ...word,
    say(' ›', isFocused ? 'running' : 'dim'),
    ...place,
  ];
}

function wordOf(field: ChoiceField | VariantsField, at: number, isFocused: boolean): Line {
  const tone = isFocused ? 'title' : 'plain';
  const word = field.kind === 'choice' ? choiceWord(field.values[at]) : variantWord(field.variants[at] ?? {});
  return word === '' ? [say('""', 'dim')] : quote(word, tone);
}

function groupLine({ kind, isPresent, children }: GroupField, isFocused: boolean): Line {
  const add = say('+ add', isFocused ? 'running' : 'dim');
  if (kind === 'object') return isPresent ? [] : [add];
  if (children.length > 0)
    return [say(`${children.length} ${children.length === 1 ? 'item' : 'items'}`, 'dim')];
  return isPresent ? [say('[]  ', 'dim'), add] : [add];
}
