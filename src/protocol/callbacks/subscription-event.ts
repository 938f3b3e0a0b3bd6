import * as z from 'zod/mini';

/** Tool → runtime: news of a subscription that a result opened with `subscription: true` (TOOL-SUB). */
export const subscriptionEventSchema = z.object({
  type: z.literal('subscription_event'),
  group_id: z.string(),
  /** The `id` of the call that subscribed. */
  tool_call_id: z.string(),
  text: z.string(),
  associative: z.optional(z.boolean()),
  final: z.optional(z.boolean()),
});

export type SubscriptionEvent = z.infer<typeof subscriptionEventSchema>;
