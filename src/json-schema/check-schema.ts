import { bounded, OutOfTime } from './bounded.js';
import { DRAFTS, type Draft, draftOf } from './dialect.js';
import { type SchemaFault, toFaults } from './fault.js';
import { validate as validate2020 } from './generated/meta-2020-12.js';

/**
 * Every way in which a JSON Schema breaks the meta-schema of its draft; none where it is sound.
 * Draft 2020-12 is checked by code made at build time, since building that check costs more than the rest of a call.
 */
export async function checkSchema(schema: Readonly<Record<string, unknown>>): Promise<SchemaFault[]> {
  const draft = draftOf(schema);
  if (draft === null) return [unknownDraft(schema['$schema'])];
  try {
    return await brokenRules(schema, draft);
  } catch (error) {
    if (error instanceof OutOfTime) return [{ path: '$', message: `checking this schema ${error.message}` }];
    if (error instanceof RangeError) return [{ path: '$', message: 'is nested too deep to be checked' }];
    throw error;
  }
}

async function brokenRules(schema: Readonly<Record<string, unknown>>, draft: Draft): Promise<SchemaFault[]> {
  if (draft === '2020-12') return bounded(() => (validate2020(schema) ? [] : toFaults(validate2020.errors)));
  const { metaValidator } = await import('./ajv-drafts.js');
  const validate = metaValidator(draft);
  return bounded(() => (validate(schema) ? [] : toFaults(validate.errors)));
}

function unknownDraft(id: unknown): SchemaFault {
  return {
    path: '$["$schema"]',
    message: `names the draft ${JSON.stringify(id)}; known here are ${DRAFTS.join(', ')}`,
  };
}
