import * as z from 'zod';

/** Runtime → tool: the request to execute one operation (seed 004). Unknown fields are ignored. */
export const invocationSchema = z.object({
  operation: z.string().min(1),
  arguments: z.record(z.string(), z.unknown()),
  id: z.string().min(1),
  call_id: z.string().nullish(),
  callback_url: z.string().min(1),
  group_id: z.string().min(1),
  thread_ancestors: z.array(z.string()).nullish(),
  user_id: z.string().nullish(),
});

export type Invocation = z.infer<typeof invocationSchema>;
