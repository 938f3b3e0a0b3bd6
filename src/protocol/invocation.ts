import * as z from 'zod/mini';

/** Runtime → tool: the request to execute one operation (seed 004). Unknown fields are ignored. */
export const invocationSchema = z.object({
  operation: z.string().check(z.minLength(1)),
  arguments: z.record(z.string(), z.unknown()),
  id: z.string().check(z.minLength(1)),
  call_id: z.nullish(z.string()),
  callback_url: z.string().check(z.minLength(1)),
  group_id: z.string().check(z.minLength(1)),
  thread_ancestors: z.nullish(z.array(z.string())),
  user_id: z.nullish(z.string()),
});

export type Invocation = z.infer<typeof invocationSchema>;
