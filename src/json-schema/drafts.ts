import { excerpt } from '../util/text.js';
import { isRecord } from '../util/values.js';
import type { SchemaFault } from './faults.js';

/** The id of each draft's meta-schema. */
export const META_SCHEMA_IDS = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema',
  'draft-06': 'http://json-schema.org/draft-06/schema',
  'draft-04': 'http://json-schema.org/draft-04/schema',
} as const;

/** The supported drafts; 2020-12 is the default (protocol, section 1). */
export type Draft = keyof typeof META_SCHEMA_IDS;

const DRAFTS = Object.keys(META_SCHEMA_IDS) as Draft[];

type Schema = Readonly<Record<string, unknown>>;

/** The draft of a schema; null if `$schema` names an unknown one. */
export function draftOf(schema: Schema): Draft | null {
  const id = schema['$schema'];
  if (id === undefined) return '2020-12';
  const bare = (text: string) => text.replace(/^https?:/, '').replace(/#$/, ''); // people write http for https
  return (typeof id === 'string' && DRAFTS.find(draft => bare(META_SCHEMA_IDS[draft]) === bare(id))) || null;
}

/** Says that `$schema` names an unknown draft; continues a sentence about the schema. */
export function unknownDraft(schema: Schema): string {
  const id = schema['$schema'];
  const named = typeof id === 'string' ? excerpt(id) : String(id);
  return `names the draft ${named}; supported drafts: ${DRAFTS.join(', ')}`;
}

/** Keywords whose value is a schema or a list of schemas. */
const SCHEMAS = /^(?:additionalItems|additionalProperties|items|not|allOf|anyOf|oneOf)$/;

/** Keywords whose value is an object of schemas. */
const NAMED = /^(?:properties|patternProperties|definitions|dependencies)$/;

/** Keywords of later drafts: draft-04 ignores them. */
const LATER = /^(?:const|contains|propertyNames|examples|\$id|if|then|else)$/;

const BOUNDS = { exclusiveMinimum: 'minimum', exclusiveMaximum: 'maximum' } as const;

/** A draft-04 schema as the draft-06 schema with the same meaning: `id` is `$id`, and an exclusive bound is a number. */
export function fromDraft04(schema: Schema): Schema {
  return { ...Object(rewritten(schema)), $schema: META_SCHEMA_IDS['draft-06'] };
}

/** Draft-04 requires boolean exclusive bounds. */
export function draft04Faults(schema: unknown, path = '$'): readonly SchemaFault[] {
  if (Array.isArray(schema)) return schema.flatMap((part, index) => draft04Faults(part, `${path}[${index}]`));
  if (!isRecord(schema)) return [];
  const own = Object.keys(BOUNDS)
    .filter(keyword => typeof (schema[keyword] ?? false) !== 'boolean')
    .map(keyword => ({ path: `${path}.${keyword}`, message: 'must be boolean (type)' }));
  const inner = Object.entries(schema).flatMap(([keyword, value]) => {
    if (SCHEMAS.test(keyword)) return draft04Faults(value, `${path}.${keyword}`);
    if (!NAMED.test(keyword) || !isRecord(value)) return [];
    return Object.entries(value).flatMap(([name, part]) => draft04Faults(part, `${path}.${keyword}.${name}`));
  });
  return [...own, ...inner];
}

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten); // schemas, or names (`dependencies`)
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([keyword]) => !LATER.test(keyword));
  return Object.fromEntries(kept.flatMap(([keyword, part]) => rewrittenKeyword(keyword, part, value)));
}

function rewrittenKeyword(keyword: string, value: unknown, schema: Schema): [string, unknown][] {
  if (keyword === 'id') return [['$id', value]];
  if (keyword === 'exclusiveMinimum' || keyword === 'exclusiveMaximum')
    return value === true ? [[keyword, schema[BOUNDS[keyword]]]] : [];
  const isExclusive =
    (keyword === 'minimum' && schema['exclusiveMinimum'] === true) ||
    (keyword === 'maximum' && schema['exclusiveMaximum'] === true);
  if (isExclusive) return [];
  if (SCHEMAS.test(keyword)) return [[keyword, rewritten(value)]];
  if (!NAMED.test(keyword) || !isRecord(value)) return [[keyword, value]];
  return [
    [keyword, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, rewritten(part)]))],
  ];
}
