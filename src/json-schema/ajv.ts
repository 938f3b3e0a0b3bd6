import type { Ajv as AjvInstance, Options } from 'ajv';
import { Ajv } from 'ajv';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { Ajv2020 } from 'ajv/dist/2020.js';
import draft06 from 'ajv/dist/refs/json-schema-draft-06.json' with { type: 'json' };
import type { Draft } from './dialect.js';

// Statically imported here, lazily from its neighbours: a bundler keeps ajv's named exports only this way.

/**
 * `meta: false`: the schema was checked before; `strict: false`: foreign schemas carry their own keywords;
 * formats are annotations (draft 2020-12). There is no `loadSchema`: a remote `$ref` is never fetched (threats, row 23).
 */
const TRUSTED: Options = {
  strict: false,
  validateFormats: false,
  allErrors: true,
  logger: false,
  meta: false,
  validateSchema: false,
};

/** A compiler for schemas that were checked with {@link metaValidator} or its precompiled twin. */
export function compiler(draft: Draft): AjvInstance {
  if (draft === '2020-12') return new Ajv2020(TRUSTED);
  return draft === '2019-09' ? new Ajv2019(TRUSTED) : new Ajv(TRUSTED);
}

/** The draft's own meta-schema as a validator. */
export function metaValidator(draft: Draft): AjvInstance {
  const options: Options = { strict: false, validateFormats: false, allErrors: true, logger: false };
  if (draft === '2020-12') return new Ajv2020(options);
  if (draft === '2019-09') return new Ajv2019(options);
  const ajv = new Ajv(options);
  return draft === 'draft-06' ? ajv.addMetaSchema(draft06) : ajv;
}
