import * as z from 'zod/mini';
import { sessionReportSchema } from './report-schema.js';

/** The JSON Schema of what `session answer -o json` prints. Published as fixtures/session-report.schema.json. */
export function sessionReportJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    title: 'Report of protocol-cli session answer',
    description:
      'What session answer -o json prints: one object, where it failed as far as it got, with error',
    ...z.toJSONSchema(sessionReportSchema, { unrepresentable: 'any' }),
  };
}
