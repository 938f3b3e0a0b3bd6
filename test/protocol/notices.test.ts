import { expect, test } from 'vitest';
import { choiceResponseSchema, NOTICES } from '../../src/protocol/invocation.js';

test.each([
  [NOTICES.close.body, { thread_id: 'thread_xyz' }],
  [NOTICES.cancel.body, { thread_id: 'thread_xyz', tool_call_id: 'call_abc123' }],
  [choiceResponseSchema, { id: 'call_abc123', selected: 0 }],
])('a notice has exactly its fields (case %#)', (schema, notice) => {
  expect(schema.parse({ ...notice, extra: 1 })).toEqual(notice);
  for (const field of Object.keys(notice))
    expect(schema.safeParse({ ...notice, [field]: undefined }).success).toBe(false);
});

test.each([-1, 0.5, '0', null])('%j is not a selection', selected => {
  expect(choiceResponseSchema.safeParse({ id: 'a', selected }).success).toBe(false);
});
