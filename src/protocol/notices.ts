import * as z from 'zod/mini';

/** Runtime → tool: the thread is over (`POST {base}/close_thread`). Single shot, never retried (RT-NOTIFY). */
export const closeThreadSchema = z.object({ thread_id: z.string() });

/** Runtime → tool: the call is no longer wanted (`POST {base}/cancel_tool_call`). A result may still come. */
export const cancelToolCallSchema = z.object({ thread_id: z.string(), tool_call_id: z.string() });

/** Runtime → tool: what the user picked (`POST` to the choice's `response_url`); `selected` indexes `choices`. */
export const choiceResponseSchema = z.object({ id: z.string(), selected: z.int().check(z.nonnegative()) });

/** Runtime → tool, where the toolset says `needsMigration`: move a session's state (TOOL-MIGRATE). */
export const migrateSchema = z.object({
  session_id: z.string(),
  destination_url: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }),
});

export type CloseThread = z.infer<typeof closeThreadSchema>;
export type Migrate = z.infer<typeof migrateSchema>;
export type CancelToolCall = z.infer<typeof cancelToolCallSchema>;
export type ChoiceResponse = z.infer<typeof choiceResponseSchema>;
