import { expect, test } from 'vitest';
import { syntheticCall } from '../../src/events/synthetic-call.js';
import type { SubscriptionEvent } from '../../src/protocol/callbacks.js';
import { INVOCATION, KEY, THREAD } from './build.js';

const event: SubscriptionEvent = {
  type: 'subscription_event',
  group_id: THREAD,
  tool_call_id: KEY,
  text: 'opened',
};

test('an event goes to a child thread of the one that subscribed', () => {
  expect(syntheticCall({ ...INVOCATION, thread_ancestors: ['root'] }, event)).toEqual({
    name: 'receive_event',
    arguments: { tool_call_id: KEY },
    text: 'opened',
    placement: 'child-thread',
    thread_ancestors: ['root', THREAD],
  });
});

test('an associative one joins the thread itself', () => {
  expect(syntheticCall(INVOCATION, { ...event, associative: true })).toMatchObject({
    placement: 'thread',
    thread_ancestors: [],
  });
});
