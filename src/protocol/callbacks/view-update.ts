import * as z from 'zod/mini';

/** Tool → runtime: the latest state of a view of the thread; empty content clears it (RT-VIEW). */
export const viewUpdateSchema = z.object({
  type: z.literal('view_update'),
  group_id: z.string(),
  view_type: z.string(),
  content: z.record(z.string(), z.unknown()),
});

export type ViewUpdate = z.infer<typeof viewUpdateSchema>;
