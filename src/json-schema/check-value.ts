import type { Ajv } from 'ajv';
import { bounded, OutOfTime } from './bounded.js';
import { type Draft, draftOf } from './dialect.js';
import { type SchemaFault, toFaults } from './fault.js';

/** A large schema takes its time, on a busy machine more; an endless one must still end. */
const COMPILE_MS = 2_000;

export type ValueCheck =
  | { readonly kind: 'valid' }
  | { readonly kind: 'invalid'; readonly faults: readonly SchemaFault[] }
  /** The schema itself cannot be used: a remote or endless `$ref`, a pattern that never ends. */
  | { readonly kind: 'unusable'; readonly reason: string };

/** Validates a value against a schema that passed `checkSchema`. Never throws, never fetches, ends within 2.5 s. */
export async function checkValue(
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
): Promise<ValueCheck> {
  const draft = draftOf(schema);
  if (draft === null) return { kind: 'unusable', reason: 'its $schema names an unknown draft' };
  const ajv = await compilerFor(draft);
  try {
    const validate = bounded(() => ajv.compile(schema), COMPILE_MS);
    return bounded(() => {
      return validate(value) ? { kind: 'valid' } : { kind: 'invalid', faults: toFaults(validate.errors) };
    });
  } catch (error) {
    return { kind: 'unusable', reason: reasonOf(error) };
  }
}

async function compilerFor(draft: Draft): Promise<Ajv> {
  if (draft === '2020-12') return (await import('./ajv.js')).compiler2020();
  return (await import('./ajv-drafts.js')).olderCompiler(draft);
}

function reasonOf(error: unknown): string {
  if (error instanceof OutOfTime)
    return `validation ${error.message}; a pattern or uniqueItems in the schema is too costly`;
  if (error instanceof RangeError) return 'its $ref never ends';
  return error instanceof Error ? error.message : 'it cannot be compiled';
}
