import { excerpt } from '../util/text.js';
import { isRecord } from '../util/values.js';

export type Schema = Readonly<Record<string, unknown>>;

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

/** The draft of a schema; null if `$schema` names an unknown one. */
export function draftOf(schema: Schema): Draft | null {
  const id = schema['$schema'];
  if (id === undefined) return '2020-12';
  const bare = (text: string) => text.replace(/^https?:/, '').replace(/#$/, ''); // some schemas have https instead of http
  return (typeof id === 'string' && DRAFTS.find(draft => bare(META_SCHEMA_IDS[draft]) === bare(id))) || null;
}

/** A clause saying that `$schema` names an unknown draft. */
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

const BOUNDS: Readonly<Record<string, string>> = {
  exclusiveMinimum: 'minimum',
  exclusiveMaximum: 'maximum',
};

/** Converts a draft-04 schema to draft-06: `id` becomes `$id`, and an exclusive bound becomes a number. */
export function fromDraft04(schema: Schema): Schema {
  return { ...Object(rewritten(schema)), $schema: META_SCHEMA_IDS['draft-06'] };
}

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten); // schemas, or names (`dependencies`)
  if (!isRecord(value)) return value;
  const kept = Object.entries(value).filter(([keyword]) => !LATER.test(keyword));
  return Object.fromEntries(kept.flatMap(([keyword, part]) => rewrittenKeyword(keyword, part, value)));
}

function rewrittenKeyword(keyword: string, value: unknown, schema: Schema): [string, unknown][] {
  if (keyword === 'id') return [['$id', value]];
  const bound = BOUNDS[keyword];
  if (bound !== undefined && typeof value === 'boolean') return value ? [[keyword, schema[bound]]] : [];
  const isExclusive = Object.keys(BOUNDS).some(each => BOUNDS[each] === keyword && schema[each] === true);
  if (isExclusive) return [];
  if (SCHEMAS.test(keyword)) return [[keyword, rewritten(value)]];
  if (!NAMED.test(keyword) || !isRecord(value)) return [[keyword, value]];
  return [
    [keyword, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, rewritten(part)]))],
  ];
}
