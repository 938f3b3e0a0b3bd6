import { checkSchemas } from '../json-schema/check-schema.js';
import { isRecord } from '../text/is-record.js';
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
  const tools = toolsOf(reading.value);
  const faults = [
    ...(checked.ok ? [] : checked.faults),
    ...repeatedNames(tools),
    ...(await schemaFaults(tools)),
  ];
  return checked.ok && faults.length === 0
    ? { ok: true, toolset: checked.value, notes: reading.notes }
    : { ok: false, faults };
}

/** The tools of a document that may be broken elsewhere, so that all its faults come out at once. */
function toolsOf(document: unknown): readonly Readonly<Record<string, unknown>>[] {
  const tools = isRecord(document) && Array.isArray(document['tools']) ? document['tools'] : [];
  return tools.map(tool => (isRecord(tool) ? tool : {}));
}

function repeatedNames(tools: ReturnType<typeof toolsOf>): string[] {
  const first = new Map<unknown, number>();
  return tools.flatMap(({ name }, index) => {
    const known = first.get(name);
    if (known === undefined) first.set(name, index);
    const isRepeated = known !== undefined && typeof name === 'string';
    return isRepeated ? [`$.tools[${index}].name: "${name}" is already the name of $.tools[${known}]`] : [];
  });
}

/** What is no schema at all is told by the toolset's own. */
async function schemaFaults(tools: ReturnType<typeof toolsOf>): Promise<string[]> {
  const found = await checkSchemas(
    tools.map(({ inputSchema }) => (isRecord(inputSchema) ? inputSchema : {})),
  );
  return found.flatMap((faults, index) =>
    faults.map(({ path, message }) => `$.tools[${index}].inputSchema${path.slice(1)}: ${message}`),
  );
}
