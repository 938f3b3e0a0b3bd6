import { type SchemaFault, toFaults } from './fault.js';
import { mentions, validatorOf } from './validator.js';

type Schema = Readonly<Record<string, unknown>>;

const FORMAT = new Set(['format']);

/**
 * Where a value does not look as a `format` of its schema says. That is an annotation (draft 2020-12): something to remark, which
 * hinders nobody. Never throws: of a schema that cannot be used, `checkValue` says so.
 */
export async function remarksOn(schema: Schema, value: unknown): Promise<readonly SchemaFault[]> {
  try {
    if (!mentions(schema, FORMAT)) return [];
    const { FORMATS } = await import('./formats.js');
    const errorsOf = await validatorOf(schema, { validateFormats: true, formats: FORMATS });
    return toFaults(errorsOf(value).filter(({ keyword }) => keyword === 'format'));
  } catch {
    return [];
  }
}
