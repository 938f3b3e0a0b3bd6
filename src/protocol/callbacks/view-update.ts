import * as z from 'zod/mini';

/** The view types that are known; others are ignored (RT-VIEW). Of a `diff` the content is `{patch}`. */
export const VIEW_TYPES: readonly string[] = ['diff'];

/** Tool → runtime: the latest state of a view of the thread; empty content clears it (RT-VIEW). */
export const viewUpdateSchema = z.object({
  type: z.literal('view_update'),
  group_id: z.string(),
  view_type: z.string(),
  content: z.record(z.string(), z.unknown()),
});

export type ViewUpdate = z.infer<typeof viewUpdateSchema>;
