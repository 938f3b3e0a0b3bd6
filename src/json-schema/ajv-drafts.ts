import { Ajv as AjvInstance, type Options } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import type { AnyValidateFunction } from 'ajv/dist/types/index.js';
import { LENIENT, TRUSTING } from './ajv.js';

/** Drafts before 2020-12, loaded when a schema names one; draft-04 is rewritten as draft-06. */
type OlderDraft = '2019-09' | 'draft-07' | 'draft-06';

export function olderCompiler(draft: OlderDraft, more: Options): AjvInstance {
  return ajvFor(draft, { ...TRUSTING, ...more });
}

export function metaValidator(draft: OlderDraft, id: string): AnyValidateFunction {
  const ajv = ajvFor(draft, LENIENT);
  if (draft === 'draft-06') ajv.addMetaSchema(draft06);
  const validate = ajv.getSchema(id);
  if (!validate) throw new Error(`ajv has no meta-schema for ${draft}`);
  return validate;
}

function ajvFor(draft: OlderDraft, options: Options): AjvInstance {
  return draft === '2019-09' ? new Ajv2019(options) : new AjvInstance(options);
}
