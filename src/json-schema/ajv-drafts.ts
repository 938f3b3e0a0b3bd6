import { Ajv as AjvInstance, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import type { AnyValidateFunction } from 'ajv/dist/types/index.js';
import { LENIENT, TRUSTING } from './ajv.js';
import { type Draft, META_SCHEMA_IDS } from './draft-04.js';

/** The drafts before 2020-12, which few toolsets name: loaded only for those. Draft-04 is rewritten as draft-06 first. */
type OlderDraft = Exclude<Draft, '2020-12' | 'draft-04'>;

/** A compiler for checked schemas. @param more beside what is usual here */
export function olderCompiler(draft: OlderDraft, more: Options): AjvInstance {
  return ajvFor(draft, { ...TRUSTING, ...more });
}

/** The draft's own meta-schema as a validator; which one is our word, not the document's. */
export function metaValidator(draft: OlderDraft): AnyValidateFunction {
  const ajv = ajvFor(draft, LENIENT);
  if (draft === 'draft-06') ajv.addMetaSchema(draft06);
  const validate = ajv.getSchema(META_SCHEMA_IDS[draft]);
  if (!validate) throw new Error(`ajv has no meta-schema for ${draft}`);
  return validate;
}

function ajvFor(draft: OlderDraft, options: Options): AjvInstance {
  return draft === '2019-09' ? new Ajv2019(options) : new AjvInstance(options);
}
