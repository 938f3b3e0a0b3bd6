import * as z from 'zod/mini';
import { checkReportSchema } from './report-schema.js';

/** The JSON Schema of what `check --reporter json` writes. Published as fixtures/check-report.schema.json. */
export function checkReportJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    title: 'Report of protocol-cli check',
    description: 'What check --reporter json writes: one object, a row for each rule and each case',
    ...z.toJSONSchema(checkReportSchema),
  };
}
