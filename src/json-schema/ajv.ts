import type { Ajv as AjvInstance, Options } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';

// Statically imported here, lazily from its neighbours: a bundler keeps ajv's named exports only this way.

/**
 * `strict: false`: foreign schemas carry their own keywords; formats are annotations (draft 2020-12).
 * There is no `loadSchema`: a remote `$ref` is never fetched (threats, row 23).
 */
export const LENIENT: Options = {
  strict: false,
  validateFormats: false,
  allErrors: true,
  ownProperties: true,
  logger: false,
};

/** For schemas that were checked before. */
export const TRUSTING: Options = { ...LENIENT, meta: false, validateSchema: false };

/** A compiler for checked schemas of draft 2020-12. @param more beside what is usual here */
export function compiler2020(more: Options): AjvInstance {
  return new Ajv2020({ ...TRUSTING, ...more });
}
