import * as z from 'zod/mini';

/** A call that an agent session waits for, and what an answer echoes whole (seed 001). The id may be null, or left out. */
export const toolRequestSchema = z.object({
  tool_name: z.string(),
  args: z.optional(z.record(z.string(), z.unknown())),
  id: z.nullish(z.string()),
});

export type ToolRequest = z.infer<typeof toolRequestSchema>;
