import * as z from 'zod/mini';
import type { Tool } from './toolset.js';
import { type Validation, validate } from './validate.js';

const hint = z.optional(z.boolean());

const listedToolSchema = z.object({
  name: z.string().check(z.minLength(1), z.maxLength(1_024)),
  description: z.optional(z.string()),
  inputSchema: z.record(z.string(), z.unknown()),
  outputSchema: z.optional(z.unknown()),
  annotations: z.optional(z.object({ readOnlyHint: hint, destructiveHint: hint, idempotentHint: hint })),
  execution: z.optional(z.object({ taskSupport: z.optional(z.unknown()) })),
});

/** A tool of an MCP server. */
export interface ListedTool {
  readonly tool: Tool;
  /** Whether it can only be called as a task. */
  readonly needsTask: boolean;
}

/** Reads a tool as `tools/list` of MCP has it. */
export function readListedTool(foreign: unknown): Validation<ListedTool> {
  const checked = validate(listedToolSchema, foreign);
  if (!checked.ok) return checked;
  const { name, description = '', inputSchema, outputSchema, annotations = {}, execution } = checked.value;
  const { readOnlyHint: readOnly, destructiveHint, idempotentHint: idempotent } = annotations;
  const destructive = readOnly === true ? undefined : destructiveHint; // has no meaning for a read-only tool
  const tool = {
    name,
    description,
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    annotations: {
      ...(readOnly !== undefined && { readOnly }),
      ...(destructive !== undefined && { destructive }),
      ...(idempotent !== undefined && { idempotent }),
    },
  };
  return { ok: true, value: { tool, needsTask: execution?.taskSupport === 'required' } };
}
