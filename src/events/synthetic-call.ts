import type { SubscriptionEvent } from '../protocol/callbacks.js';
import type { Invocation } from '../protocol/invocation.js';

/**
 * What a runtime puts into a conversation for an event of a subscription, whose call has its result already: a call that no model
 * made, with the event's text as its result (public RAP specification, "Synthetic tool calls").
 */
interface SyntheticCall {
  readonly name: 'receive_event';
  readonly arguments: { readonly tool_call_id: string };
  readonly text: string;
  /** An associative event joins the conversation that subscribed; any other has a child thread of its own. */
  readonly placement: 'thread' | 'child-thread';
  /** Of the thread it goes to; root first. Of a child thread the last one is the thread that subscribed. */
  readonly thread_ancestors: readonly string[];
}

export function syntheticCall(
  { group_id, thread_ancestors }: Invocation,
  { tool_call_id, text, associative = false }: SubscriptionEvent,
): SyntheticCall {
  const ancestors = thread_ancestors ?? [];
  return {
    name: 'receive_event',
    arguments: { tool_call_id },
    text,
    placement: associative ? 'thread' : 'child-thread',
    thread_ancestors: associative ? ancestors : [...ancestors, group_id],
  };
}
