import { recordOf, type Schema } from '../../../json-schema/example/resolved.js';
import { compactJson } from '../../../text/compact-json.js';
import { cut } from '../../../text/cut.js';
import type { Field } from './field.js';

const LONGEST = 200;

/** A value that can be chosen, as a person reads it: a string without its quotes. Foreign. */
export function choiceWord(value: unknown): string {
  return cut(typeof value === 'string' ? value : (compactJson(value) ?? ''), LONGEST);
}

/** What a schema takes, in a word or two. Foreign where a format or a title is named. */
export function typeWord({ kind, schema }: Field): string {
  const format = typeof schema['format'] === 'string' ? ` ${schema['format']}` : '';
  return cut(`${WORDS[kind](schema)}${kind === 'text' ? format : ''}`, LONGEST);
}

const WORDS: Readonly<Record<Field['kind'], (schema: Schema) => string>> = {
  text: () => 'string',
  number: ({ type }) => (type === 'integer' ? 'integer' : 'number'),
  json: ({ type }) => (typeof type === 'string' ? `${type} as JSON` : 'JSON'),
  choice: schema => ('const' in schema ? 'const' : 'enum' in schema ? 'enum' : String(schema['type'])),
  object: () => 'object',
  array: ({ items }) => arrayWord(recordOf(items)['type']),
  variants: () => 'one of',
};

function arrayWord(type: unknown): string {
  return typeof type === 'string' ? `array of ${type}` : 'array';
}

/** What a variant is called: by its title, else by its type or what it refers to. Foreign. */
export function variantWord(variant: Schema): string {
  const named = [variant['title'], variant['const'], variant['type']].find(name => typeof name === 'string');
  return cut(String(named ?? 'JSON'), LONGEST);
}
