import * as z from 'zod/mini';

/** The members of LM-Kit's `ToolCallResultType`, each at its number (seed 002). The enumeration is open. */
export const RESULT_TYPES = ['Success', 'Error', 'Canceled', 'Timeout', 'Denied'] as const;
export type ResultType = (typeof RESULT_TYPES)[number];

/** What LM-Kit knows of a call that came to its end; `ResultJson` is a JSON text (seed 002). */
export const toolCallResultSchema = z.object({
  Type: z.union([z.string(), z.number()], { error: 'must be a name or a number' }),
  ResultJson: z.string(),
  ToolCallId: z.nullish(z.string()),
  ToolName: z.nullish(z.string()),
});

/** The member that is meant, by its name in any case, or by its number; null for one of another version. */
export function resultTypeOf(type: string | number): ResultType | null {
  if (typeof type === 'number') return RESULT_TYPES[type] ?? null;
  return RESULT_TYPES.find(each => each.toLowerCase() === type.toLowerCase()) ?? null;
}
