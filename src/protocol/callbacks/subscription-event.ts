import * as z from 'zod';

/** Tool → runtime: news of a subscription that a result opened with `subscription: true` (TOOL-SUB). */
export const subscriptionEventSchema = z.object({
  type: z.literal('subscription_event'),
  group_id: z.string(),
  /** The `id` of the call that subscribed. */
  tool_call_id: z.string(),
  text: z.string(),
  associative: z.boolean().optional(),
  final: z.boolean().optional(),
});

export type SubscriptionEvent = z.infer<typeof subscriptionEventSchema>;
