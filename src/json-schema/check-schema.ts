import { OutOfTime, patientlyBounded } from '../text/bounded.js';
import { type Draft, draftOf, unknownDraft } from './dialect.js';
import { type SchemaFault, toFaults } from './fault.js';
import { validate as validate2020 } from './generated/meta-2020-12.js';

type Schema = Readonly<Record<string, unknown>>;
type FaultsOf = (schema: Schema) => readonly SchemaFault[];

/**
 * For each JSON Schema, every way in which it breaks the meta-schema of its draft; none where it is sound, or of an unknown draft.
 * All of them share one time limit (threats, row 22). Never throws.
 */
export async function checkSchemas(schemas: readonly Schema[]): Promise<readonly (readonly SchemaFault[])[]> {
  const drafts = schemas.map(draftOf);
  const checks = new Map<Draft | null, FaultsOf>([[null, withoutDraft]]);
  for (const draft of new Set(drafts)) if (draft !== null) checks.set(draft, await checkFor(draft));
  try {
    return patientlyBounded(() =>
      schemas.map((schema, index) => checks.get(drafts[index] ?? null)?.(schema) ?? []),
    );
  } catch (error) {
    const message = reasonOf(error);
    return schemas.map((_, index) => (index === 0 ? [{ path: '$', message }] : []));
  }
}

/** As {@link checkSchemas}, for one. */
export async function checkSchema(schema: Schema): Promise<readonly SchemaFault[]> {
  const [faults = []] = await checkSchemas([schema]);
  return faults;
}

/** Draft 2020-12 is checked by code made at build time: building that check costs more than the rest of a call. */
async function checkFor(draft: Draft): Promise<FaultsOf> {
  if (draft === '2020-12') return schema => (validate2020(schema) ? [] : toFaults(validate2020.errors));
  const { metaValidator } = await import('./ajv-drafts.js');
  const validate = metaValidator(draft === 'draft-04' ? 'draft-06' : draft);
  const faultsIn = (schema: Schema) => (validate(schema) ? [] : toFaults(validate.errors));
  if (draft !== 'draft-04') return faultsIn;
  const { draft04Faults, fromDraft04 } = await import('./draft-04.js');
  return schema => [...draft04Faults(schema), ...faultsIn(fromDraft04(schema))];
}

/** A draft that is not known here may be sound, and cannot be checked; what is no name of a draft is a fault. */
function withoutDraft(schema: Schema): SchemaFault[] {
  if (typeof schema['$schema'] === 'string') return [];
  return [{ path: '$["$schema"]', message: unknownDraft(schema) }];
}

function reasonOf(error: unknown): string {
  if (error instanceof OutOfTime) return `checking the schemas ${error.message}`;
  if (error instanceof RangeError) return 'is nested too deep to be checked';
  throw error;
}
