/** The drafts a toolset may be written in; 2020-12 is meant where `$schema` names none (protocol, section 1). */
export type Draft = '2020-12' | '2019-09' | 'draft-07' | 'draft-06';

const BY_ID: Readonly<Record<string, Draft>> = {
  'https://json-schema.org/draft/2020-12/schema': '2020-12',
  'https://json-schema.org/draft/2019-09/schema': '2019-09',
  'http://json-schema.org/draft-07/schema': 'draft-07',
  'http://json-schema.org/draft-06/schema': 'draft-06',
};

export const DRAFTS = Object.values(BY_ID);

/** The draft a schema is written in; null where `$schema` names one that is not known here. */
export function draftOf(schema: Readonly<Record<string, unknown>>): Draft | null {
  const id = schema['$schema'];
  if (id === undefined) return '2020-12';
  return typeof id === 'string'
    ? (BY_ID[id.replace(/#$/, '').replace(/^https:\/\/(.*draft-0)/, 'http://$1')] ?? null)
    : null;
}
