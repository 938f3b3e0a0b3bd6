import { draftOf, unknownDraft } from '../json-schema/drafts.js';
import { checkSchemas } from '../json-schema/validator.js';
import type { JsonReading } from '../util/json.js';
import { excerpt } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { jsonWarnings } from './strictness.js';
import { type Tool, type Toolset, toolsetSchema } from './toolset.js';
import { validateTolerantly } from './validate.js';

/** A valid toolset, and what is odd about it. */
export interface ValidToolset {
  readonly ok: true;
  readonly toolset: Toolset;
  /** Warnings; a warning about a member begins with its path. */
  readonly notes: readonly string[];
  /** Paths of optional members that are null, which counts as absent; omitted if absent. */
  readonly nulls?: readonly string[];
}

/** The result of validating a toolset. */
export type ToolsetReading = ValidToolset | { readonly ok: false; readonly faults: readonly string[] };

/**
 * Validates a whole toolset: any error rejects it, and all errors are returned (RT-TOOLSET, TOOL-DISCOVER).
 * @example
 * const response = await fetch('http://127.0.0.1:3001/.well-known/rap-toolset');
 * const reading = await readToolset(readJson(new Uint8Array(await response.arrayBuffer())));
 * if (!reading.ok) console.log(reading.faults);
 */
export async function readToolset(reading: JsonReading): Promise<ToolsetReading> {
  if (!reading.ok) return { ok: false, faults: [`$: ${reading.reason}`] };
  const checked = validateTolerantly(toolsetSchema, reading.value);
  const tools = toolsOf(reading.value);
  const faults = [
    ...(checked.ok ? [] : checked.faults),
    ...repeatedNames(tools),
    ...(await schemaFaults(tools)),
  ];
  if (!checked.ok || faults.length > 0) return { ok: false, faults };
  const { value: toolset, nulls } = checked;
  const notes = [...jsonWarnings(reading.notes, 'toolset'), ...toolset.tools.flatMap(remarksOn)];
  return { ok: true, toolset, notes, ...(nulls && { nulls }) };
}

const ASCII_NAME = /^[A-Za-z0-9_-]*$/;

/** Warnings about a tool that is valid but unusual. */
function remarksOn({ name, inputSchema }: Tool, index: number): string[] {
  const path = `$.tools[${index}]`;
  const isUnknown = draftOf(inputSchema) === null;
  return [
    ...(ASCII_NAME.test(name)
      ? []
      : [`${path}.name: ${excerpt(name)} has other characters than A–Z a–z 0–9 _ -`]),
    ...(isUnknown ? [`${path}.inputSchema: ${unknownDraft(inputSchema)}, so arguments are not checked`] : []),
  ];
}

/** The tools of a document that may have other errors, so that all errors are reported together. */
type UncheckedTool = Readonly<Record<string, unknown>>;

function toolsOf(document: unknown): readonly UncheckedTool[] {
  const tools = isRecord(document) && Array.isArray(document['tools']) ? document['tools'] : [];
  return tools.map(tool => (isRecord(tool) ? tool : {}));
}

function repeatedNames(tools: readonly UncheckedTool[]): string[] {
  const first = new Map<unknown, number>();
  return tools.flatMap(({ name }, index) => {
    const known = first.get(name);
    if (known === undefined) first.set(name, index);
    const isRepeated = known !== undefined && typeof name === 'string';
    return isRepeated ? [`$.tools[${index}].name: "${name}" is already the name of $.tools[${known}]`] : [];
  });
}

/** Skips values that are not objects, which the toolset's own schema reports. */
async function schemaFaults(tools: readonly UncheckedTool[]): Promise<string[]> {
  const found = await checkSchemas(
    tools.map(({ inputSchema }) => (isRecord(inputSchema) ? inputSchema : {})),
  );
  return found.flatMap((faults, index) =>
    faults.map(({ path, message }) => `$.tools[${index}].inputSchema${path.slice(1)}: ${message}`),
  );
}
