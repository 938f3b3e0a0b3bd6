import { describe, expect, test } from 'vitest';
import type { Event } from '../../src/events/events.js';
import type { Listener } from '../../src/events/log.js';
import type { ToolCall } from '../../src/events/tool-call.js';
import { callWithin, requireOffered } from '../../src/mock/mock-tool.js';
import { acknowledged, call, eventsOf, INVOCATION, type Moment } from '../events/build.js';

const received = (operation: string, id: string): Moment[] =>
  [...call({ invocation: { ...INVOCATION, operation, id } }), ...acknowledged()].map(moment => ({
    ...moment,
    calls: [id],
  }));

function observed(...events: readonly Event[]) {
  const listeners = new Set<Listener>();
  return {
    events,
    listeners,
    tell: (event: Event) => listeners.forEach(listener => void listener(event)),
    subscribe(listener: Listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

const what = 'a call of "other"';
const third = ({ invocation }: ToolCall) => invocation?.id === '3';
const isAcknowledged = ({ acknowledgement: { status } }: ToolCall) => status === 200;

describe('a call that is waited for', () => {
  test('came already: the first that fits', async () => {
    const events = observed(...eventsOf(received('a', '1'), received('b', '2'), received('b', '3')));
    expect((await callWithin(events, 0, { what })).key).toBe('1');
    expect((await callWithin(events, 0, { what, filter: 'b' })).key).toBe('2');
    expect((await callWithin(events, 0, { what, filter: third })).key).toBe('3');
  });

  test('is still to come, and to be ready', async () => {
    const events = observed(...eventsOf(received('a', '1')));
    const [request, response] = eventsOf(received('b', '2'));
    const waiting = callWithin(events, 5_000, { what, filter: 'b', ready: isAcknowledged });
    for (const event of [request, response]) if (event) events.tell(event);
    expect((await waiting).key).toBe('2');
    expect(events.listeners.size).toBe(0);
  });

  test.each<[string, Moment[][], string]>([
    ['nothing', [], 'no call was received'],
    ['others', [received('a', '1'), received('b', '2')], 'the last calls: a (1, waiting), b (2, waiting)'],
    ['malformed call', [received('', '1')], 'the last calls: malformed call (1, waiting)'],
  ])('does not come in time: lists the last calls, %s', async (_, moments, came) => {
    const events = observed(...eventsOf(...moments));
    const waiting = callWithin(events, 1, { what, filter: 'other' });
    await expect(waiting).rejects.toThrow(`timed out after 1 ms waiting for a call of "other"; ${came}`);
    expect(events.listeners.size).toBe(0);
  });
});

test.each([
  ['wach', 'unknown operation "wach". Did you mean "watch"? Use a filter function to wait for any call.'],
  [
    'xyzzy',
    'unknown operation "xyzzy". Available: watch, count. Use a filter function to wait for any call.',
  ],
])('an operation that is not offered is not waited for: %s', (name, message) => {
  expect(() => requireOffered(name, ['watch', 'count'])).toThrow(message);
  expect(() => requireOffered('count', ['watch', 'count'])).not.toThrow();
});
