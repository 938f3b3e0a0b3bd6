import * as z from 'zod/mini';
import { repeatsSchema, reportSchema } from './report-schema.js';

reportSchema.register(z.globalRegistry, { id: 'report' });
repeatsSchema.register(z.globalRegistry, { id: 'repeats' });

/** The JSON Schema of what `invoke -o json` prints. Published as fixtures/report.schema.json. */
export function reportJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    title: 'Report of protocol-cli invoke',
    description:
      'What invoke -o json prints: one object, where the call failed as far as it got, with error; of --repeat all of them',
    ...z.toJSONSchema(z.union([reportSchema, repeatsSchema]), { unrepresentable: 'any' }),
  };
}
