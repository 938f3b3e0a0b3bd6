import * as z from 'zod/mini';
import { transcriptLineSchema } from './transcript-format.js';

/** The JSON Schema of a line of a transcript. Published as fixtures/transcript.schema.json. */
export function transcriptJsonSchema(): Readonly<Record<string, unknown>> {
  return {
    title: 'Line of a transcript of protocol-cli',
    description: 'What --save and -o ndjson write: one JSON object on each line',
    ...z.toJSONSchema(transcriptLineSchema, { unrepresentable: 'any' }),
  };
}
