import { expect, test } from 'vitest';
import type { Changes } from '../../../src/protocol/session.js';
import { changesLines, pendingIn } from '../../../src/render/saved-answers.js';
import { words } from '../../support/words.js';

const state = (data: unknown) => ({ type: 'ActiveStateChangeEvent', data });
const lines = (changes: Changes) => changesLines(changes).map(part => part.map(words));

test('how it stands, what happened, what it waits for, what it said', () => {
  expect(
    lines({
      status: 'awaiting_tool_results',
      started_at: '10:00',
      error: 'a\u001b',
      answer: 'sent',
      new_events: [
        { type: 'Thought', timestamp: '10:01', data: { text: 'hm' } },
        state({
          state: 'awaiting_tool_results',
          pending_tool_calls: [
            { tool_name: 'lookup', args: { a: 1 }, id: 'call_1' },
            { tool_name: 'lookup', id: null },
          ],
        }),
      ],
    }),
  ).toEqual([
    ['session awaiting_tool_results', 'started 10:00', '✗ a␛'],
    [
      '2 EVENTS',
      '10:01  Thought  {"text":"hm"}',
      expect.stringContaining('ActiveStateChangeEvent  {"state":"awaiting_tool_results"'),
    ],
    ['2 PENDING CALLS', 'lookup {"a":1} as call_1', 'lookup {} without an id'],
    ['ANSWER', '"sent"'],
  ]);
});

test('the latest event counts', () => {
  const pending_tool_calls = [{ tool_name: 'a', id: 'x' }];
  const waits = state({ state: 'awaiting_tool_results', pending_tool_calls });
  expect(pendingIn({ status: 's', new_events: [state({ state: 'running' }), waits] })).toEqual(
    pending_tool_calls,
  );
  expect(pendingIn({ status: 's', new_events: [waits, state({ state: 'running' })] })).toEqual([]);
  expect(pendingIn({ status: 's', new_events: [waits, state('garbage')] })).toBeNull();
  expect(pendingIn({ status: 's' })).toBeNull();
});

test('of very many events the last ones are shown', () => {
  const new_events = Array.from({ length: 200 }, (_, index) => ({ type: `e${index}` }));
  const [, events = []] = lines({ status: 's', new_events });
  expect(events.slice(0, 3)).toEqual(['200 EVENTS', '… 150 earlier', 'e150']);
  expect(events.at(-1)).toBe('e199');
});
