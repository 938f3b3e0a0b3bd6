import * as z from 'zod/mini';

const contentItemSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: z.string(), mediaType: z.string() }),
]);

/** A segment's type is open and its content is looked at only when it is drawn: a bad hint must not lose a result. */
const displaySegmentSchema = z.object({ type: z.string(), content: z.optional(z.unknown()) });

/** Tool → runtime: the outcome of a call (seed 000). `content` is the later text's addition; one of both is needed, and an empty `content` does not count. */
export const toolResultSchema = z
  .object({
    type: z.literal('tool_result'),
    group_id: z.string(),
    id: z.string(),
    call_id: z.nullish(z.string()),
    text: z.optional(z.string()),
    content: z.optional(z.array(contentItemSchema)),
    display_as: z.optional(z.array(displaySegmentSchema)),
    subscription: z.optional(z.boolean()),
  })
  .check(({ value, issues }) => {
    if (value.text === undefined && !value.content?.length)
      issues.push({
        code: 'custom',
        input: value,
        path: ['text'],
        message: 'is required (or content, in the later text of the protocol)',
      });
  });

export type ToolResult = z.infer<typeof toolResultSchema>;
export type ContentItem = z.infer<typeof contentItemSchema>;
