import type { Schema } from '../../../../json-schema/example/resolved.js';
import type { Line } from '../../../../story/line.js';
import { quote, say } from '../../../../story/spans.js';
import { cut } from '../../../../text/cut.js';
import type { Row } from '../stops.js';
import { hintOf } from './hint.js';

/** As much of a description as anybody reads here. */
const LONGEST = 400;

/** What stands below the field in focus: its title and description, what it must be, what its keys do. */
export function detailLines(row: Row): readonly Line[] {
  const { schema } = row.child.field;
  const words = [wordsOf(schema, 'title'), wordsOf(schema, 'description')].filter(text => text !== '');
  const about = words.length > 0 ? [quote(words.join(' – '), 'dim')] : [];
  const rules = rulesOf(row);
  return [...about, ...(rules.length > 0 ? [rules] : [])];
}

function wordsOf(schema: Schema, keyword: string): string {
  const words = schema[keyword];
  return typeof words === 'string' ? cut(words.trim(), LONGEST).replaceAll(/\s*\n\s*/g, ' ') : '';
}

function rulesOf(row: Row): Line {
  const { isRequired, isExtra, field } = row.child;
  const required = isRequired && !isExtra ? ['required'] : [];
  const parts = [
    ...required.map(word => [say(word, 'dim')]),
    ...limits(field.schema),
    [say(hintOf(row), 'dim')],
  ];
  return parts
    .filter(part => part.some(({ text }) => text !== ''))
    .flatMap((part, index) => (index === 0 ? part : [say(' · ', 'dim'), ...part]));
}

const LIMITS: readonly (readonly [keyword: string, words: string])[] = [
  ['format', 'format'],
  ['minimum', 'at least'],
  ['exclusiveMinimum', 'more than'],
  ['maximum', 'at most'],
  ['exclusiveMaximum', 'less than'],
  ['multipleOf', 'a multiple of'],
  ['minLength', 'characters from'],
  ['maxLength', 'characters up to'],
  ['pattern', 'pattern'],
  ['minItems', 'items from'],
  ['maxItems', 'items up to'],
];

function limits(schema: Schema): readonly Line[] {
  return LIMITS.flatMap(([keyword, words]) => {
    const limit = schema[keyword];
    const isTold = typeof limit === 'number' || typeof limit === 'string';
    return isTold ? [[say(`${words} `, 'dim'), ...quote(cut(String(limit), 80), 'dim')]] : [];
  });
}
