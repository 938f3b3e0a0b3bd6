import { excerpt } from '../text/excerpt.js';

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
  return `names the draft ${named}; known here are ${DRAFTS.join(', ')}`;
}

/** People write http for https, and an empty fragment. */
function bare(id: string): string {
  return id.replace(/^https?:/, '').replace(/#$/, '');
}
