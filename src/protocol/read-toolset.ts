import { checkSchema } from '../json-schema/check-schema.js';
import type { JsonReading } from '../text/json.js';
import { type Toolset, toolsetSchema } from './toolset.js';
import { validate } from './validate.js';

export type ToolsetReading =
  | { readonly ok: true; readonly toolset: Toolset; readonly notes: readonly string[] }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Validates a toolset whole: one bad tool makes all of it unusable, and every fault is told (RT-TOOLSET, TOOL-DISCOVER). */
export async function readToolset(reading: JsonReading): Promise<ToolsetReading> {
  if (!reading.ok) return { ok: false, faults: [`$: ${reading.reason}`] };
  const checked = validate(toolsetSchema, reading.value);
  const faults = [...(checked.ok ? [] : checked.faults), ...(await schemaFaults(reading.value))];
  return checked.ok && faults.length === 0
    ? { ok: true, toolset: checked.value, notes: reading.notes }
    : { ok: false, faults };
}

/** Looks into the input schemas of a document that may otherwise be broken, so that all faults come out at once. */
async function schemaFaults(document: unknown): Promise<string[]> {
  const tools = isRecord(document) && Array.isArray(document['tools']) ? document['tools'] : [];
  const faults = tools.map(async (tool: unknown, index) => {
    const schema = isRecord(tool) ? tool['inputSchema'] : undefined;
    if (!isRecord(schema)) return []; // the toolset's own schema says so
    const found = await checkSchema(schema);
    return found.map(({ path, message }) => `$.tools[${index}].inputSchema${path.slice(1)}: ${message}`);
  });
  return (await Promise.all(faults)).flat();
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
