import type { Ajv as AjvInstance, Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

// Static imports, since a bundler keeps ajv's named exports only this way. Other modules import this one lazily.

/**
 * `strict: false`: foreign schemas may have keywords of their own; formats are annotations (draft 2020-12).
 * There is no `loadSchema`: a remote `$ref` is never fetched (threats, row 23).
 */
export const LENIENT: Options = {
  strict: false,
  validateFormats: false,
  allErrors: true,
  ownProperties: true,
  logger: false,
};

/** For schemas without errors. */
export const TRUSTING: Options = { ...LENIENT, meta: false, validateSchema: false };

/** A compiler for schemas of draft 2020-12 without errors. @param more additional options */
export function compiler2020(more: Options): AjvInstance {
  return new Ajv2020({ ...TRUSTING, ...more });
}
