import { listOf, type Schema } from './resolved.js';

export const TYPES = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'] as const;
export type Type = (typeof TYPES)[number];

const TELLING: readonly (readonly [keyword: string, type: Type])[] = [
  ['properties', 'object'],
  ['required', 'object'],
  ['items', 'array'],
  ['prefixItems', 'array'],
  ['minItems', 'array'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['multipleOf', 'number'],
];

/** The type that an example has: the first that is named, else what the other keywords speak of, else a string. */
export function typeOf(schema: Schema): Type {
  const named = [schema['type'], ...listOf(schema['type'])].find(isType);
  return named ?? TELLING.find(([keyword]) => keyword in schema)?.[1] ?? 'string';
}

function isType(value: unknown): value is Type {
  return TYPES.some(type => type === value);
}
