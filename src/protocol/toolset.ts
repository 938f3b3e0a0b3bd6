import * as z from 'zod';

const NAME_LENGTH = 128;

const annotationsSchema = z.looseObject({
  requiresAuth: z.string().optional(),
  readOnly: z.boolean().optional(),
  destructive: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  longRunning: z.boolean().optional(),
});

export const toolSchema = z.object({
  name: z
    .string()
    .min(1)
    .max(NAME_LENGTH)
    .regex(/^[A-Za-z0-9_-]*$/, 'may hold only A–Z a–z 0–9 _ -'),
  description: z.string(),
  /** A JSON Schema object; draft 2020-12 unless `$schema` names another. */
  inputSchema: z.record(z.string(), z.unknown()),
  annotations: annotationsSchema.optional(),
  displayScript: z.string().optional(),
});

/** The fields of a toolset, for whoever has one without an endpoint yet. */
export const toolsetFields = {
  name: z.string().min(1).max(NAME_LENGTH),
  description: z.string().optional(),
  tools: z.array(toolSchema).min(1).check(uniqueNames),
  needsMigration: z.boolean().default(false),
};

/** What discovery gives: `GET {base}/.well-known/rap-toolset` (TOOL-DISCOVER, TOOL-NAMES). */
export const toolsetSchema = z.object({
  ...toolsetFields,
  endpoint: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
});

export type Tool = z.infer<typeof toolSchema>;
export type Toolset = z.infer<typeof toolsetSchema>;

function uniqueNames({ value, issues }: z.core.ParsePayload<Tool[]>): void {
  for (const [index, { name }] of value.entries()) {
    const first = value.findIndex(tool => tool.name === name);
    const message = `"${name}" is already the name of $.tools[${first}]`;
    if (first !== index) issues.push({ code: 'custom', input: name, path: [index, 'name'], message });
  }
}
