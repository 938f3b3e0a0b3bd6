import * as z from 'zod/mini';
import { toolRequestSchema } from './tool-request.js';

/** A call that went well. `result` is any JSON, and left out is not null (seed 001). */
export const sessionResultSchema = z.object({
  kind: z.literal('tool_result'),
  tool_req: toolRequestSchema,
  result: z.optional(z.unknown()),
});

/** A call that failed: `error` is shown to the model, `origin` names what produced it. */
export const errorEventSchema = z.object({
  kind: z.literal('error_event'),
  error: z.string(),
  origin: z.string(),
  tool_req: toolRequestSchema,
});

export const settledCallSchema = z.discriminatedUnion('kind', [sessionResultSchema, errorEventSchema]);

/** What `POST /api/v2/sessions/{id}/tool_results` takes. */
export type SettledCall = z.infer<typeof settledCallSchema>;

/** Of an error that comes from a custom tool (seed 001's example). */
export const CUSTOM_TOOLS = 'custom_tools';
