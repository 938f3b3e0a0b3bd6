import { bounded, OutOfTime } from '../util/time-limit.js';
import { type Draft, draftOf, fromDraft04, unknownDraft } from './drafts.js';
import { type SchemaFault, toFaults } from './faults.js';
import { isPlain } from './plain-schema.js';

type Schema = Readonly<Record<string, unknown>>;

/**
 * All errors of each JSON Schema against the meta-schema of its draft; none for an unknown draft. They share one time limit (threats,
 * row 22). Never throws.
 */
export async function checkSchemas(schemas: readonly Schema[]): Promise<readonly (readonly SchemaFault[])[]> {
  const others = new Set(schemas.filter(schema => !isPlain(schema)));
  if (others.size === 0) return schemas.map(() => []);
  const checks = new Map<Draft | null, (schema: Schema) => readonly SchemaFault[]>();
  for (const draft of new Set([...others].map(draftOf))) checks.set(draft, await checkFor(draft));
  const faultsOf = (schema: Schema) => (others.has(schema) && checks.get(draftOf(schema))?.(schema)) || [];
  try {
    return bounded(() => schemas.map(faultsOf));
  } catch (error) {
    if (!(error instanceof OutOfTime || error instanceof RangeError)) throw error;
    const message =
      error instanceof OutOfTime
        ? `checking the schemas ${error.message}`
        : 'is nested too deep to be checked';
    return schemas.map((_, index) => (index === 0 ? [{ path: '$', message }] : []));
  }
}

/** The meta-schema of 2020-12 is compiled at build time, which is much faster; the others are loaded when needed. */
async function checkFor(draft: Draft | null): Promise<(schema: Schema) => readonly SchemaFault[]> {
  if (draft === null)
    return schema =>
      typeof schema['$schema'] === 'string' ? [] : [{ path: '$["$schema"]', message: unknownDraft(schema) }];
  if (draft === '2020-12') {
    const { validate } = await import('./generated/meta-2020-12.js');
    return schema => (validate(schema) ? [] : toFaults(validate.errors));
  }
  const { metaValidator } = await import('./ajv-drafts.js');
  const validate = metaValidator(draft === 'draft-04' ? 'draft-06' : draft);
  const faultsOf = (schema: Schema) => (validate(schema) ? [] : toFaults(validate.errors));
  return draft === 'draft-04' ? schema => faultsOf(fromDraft04(schema)) : faultsOf;
}
