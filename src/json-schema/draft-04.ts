import { excerpt } from '../util/excerpt.js';
import { isRecord } from '../util/json-diagnosis.js';
import type { SchemaFault } from './validate.js';

/** The drafts a toolset may be written in; 2020-12 is meant where `$schema` names none (protocol, section 1). */
export type Draft = '2020-12' | '2019-09' | 'draft-07' | 'draft-06' | 'draft-04';

/** The id of each draft's meta-schema. */
export const META_SCHEMA_IDS: Readonly<Record<Draft, string>> = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema',
  'draft-06': 'http://json-schema.org/draft-06/schema',
  'draft-04': 'http://json-schema.org/draft-04/schema',
};

export const DRAFTS: readonly Draft[] = ['2020-12', '2019-09', 'draft-07', 'draft-06', 'draft-04'];

/** The draft a schema is written in; null where `$schema` names one that is not known here. */
export function draftOf(schema: Readonly<Record<string, unknown>>): Draft | null {
  const id = schema['$schema'];
  if (id === undefined) return '2020-12';
  return (typeof id === 'string' && DRAFTS.find(draft => bare(META_SCHEMA_IDS[draft]) === bare(id))) || null;
}

/** That `$schema` names a draft which is not known here, for a sentence about the schema. */
export function unknownDraft(schema: Readonly<Record<string, unknown>>): string {
  const id = schema['$schema'];
  const named = typeof id === 'string' ? excerpt(id) : String(id);
  return `names the draft ${named}; supported drafts: ${DRAFTS.join(', ')}`;
}

/** People write http for https, and an empty fragment. */
function bare(id: string): string {
  return id.replace(/^https?:/, '').replace(/#$/, '');
}

type Schema = Readonly<Record<string, unknown>>;

/** Keywords whose value is a schema or a list of schemas. */
const SCHEMAS = new Set([
  'additionalItems',
  'additionalProperties',
  'items',
  'not',
  'allOf',
  'anyOf',
  'oneOf',
]);
/** Keywords whose value is an object of schemas. */
const NAMED = new Set(['properties', 'patternProperties', 'definitions', 'dependencies']);
/** Keywords that later drafts brought: in draft-04 they are unknown, and say nothing. */
const LATER = new Set(['const', 'contains', 'propertyNames', 'examples', '$id', 'if', 'then', 'else']);
const BOUNDS = { exclusiveMinimum: 'minimum', exclusiveMaximum: 'maximum' } as const;

/**
 * A draft-04 schema as the draft-06 schema that means the same, which ajv can compile: `id` is `$id`, and an exclusive bound is a
 * number of its own.
 */
export function fromDraft04(schema: Schema): Schema {
  return { ...rewritten(schema), $schema: META_SCHEMA_IDS['draft-06'] };
}

/** Draft-04 requires boolean exclusive bounds. */
export function draft04Faults(schema: unknown, path = '$'): readonly SchemaFault[] {
  if (Array.isArray(schema)) return schema.flatMap((part, index) => draft04Faults(part, `${path}[${index}]`));
  if (!isRecord(schema)) return [];
  const own = Object.keys(BOUNDS)
    .filter(keyword => typeof (schema[keyword] ?? false) !== 'boolean')
    .map(keyword => ({ path: `${path}.${keyword}`, message: 'must be boolean (type)' }));
  return [...own, ...partsOf(schema).flatMap(([keyword, part]) => draft04Faults(part, `${path}.${keyword}`))];
}

function partsOf(schema: Schema): readonly (readonly [place: string, part: unknown])[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (SCHEMAS.has(keyword)) return [[keyword, value] as const];
    if (!NAMED.has(keyword) || !isRecord(value)) return [];
    return Object.entries(value).map(([name, part]) => [`${keyword}.${name}`, part] as const);
  });
}

function rewritten(schema: Schema): Schema {
  const entries = Object.entries(schema).filter(([keyword]) => !LATER.has(keyword));
  return Object.fromEntries(entries.flatMap(([keyword, value]) => entryOf(keyword, value, schema)));
}

function entryOf(keyword: string, value: unknown, schema: Schema): readonly (readonly [string, unknown])[] {
  if (keyword === 'id') return [['$id', value]];
  if (keyword === 'exclusiveMinimum' || keyword === 'exclusiveMaximum')
    return value === true ? [[keyword, schema[BOUNDS[keyword]]]] : [];
  const isReplaced =
    (keyword === 'minimum' && schema['exclusiveMinimum'] === true) ||
    (keyword === 'maximum' && schema['exclusiveMaximum'] === true);
  if (isReplaced) return [];
  if (SCHEMAS.has(keyword)) return [[keyword, part(value)]];
  if (!NAMED.has(keyword) || !isRecord(value)) return [[keyword, value]];
  return [[keyword, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, part(each)]))]];
}

/** A list may be names of properties, too (`dependencies`). */
function part(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(part);
  return isRecord(value) ? rewritten(value) : value;
}
