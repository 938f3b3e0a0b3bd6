import { expect, test } from 'vitest';
import { RecentCalls } from '../../src/events/bounded-events.js';
import { delivered, MockStory } from '../support/mock-story.js';

const idsOf = (calls: RecentCalls) => calls.list.map(({ key }) => key);

function replay({ events }: MockStory, limits: ConstructorParameters<typeof RecentCalls>[0]): RecentCalls {
  const calls = new RecentCalls(limits);
  for (const event of events) calls.apply(event);
  return calls;
}

test('remembers the latest calls, the oldest go first', () => {
  const story = new MockStory();
  for (const id of ['a', 'b', 'c']) delivered(story, id);
  expect(idsOf(replay(story, { calls: 2 }))).toEqual(['b', 'c']);
  expect(idsOf(replay(story, {}))).toEqual(['a', 'b', 'c']);
});

test('what happens to a call that is forgotten is not news of a new one', () => {
  const story = new MockStory();
  story.receives('a').receives('b');
  story.matches('a', 'late');
  expect(idsOf(replay(story, { calls: 1 }))).toEqual(['b']);
});

test('what calls weigh counts too, invocations and callbacks; the last one stays however heavy it is', () => {
  const story = new MockStory();
  story.receives('a', { arguments: { text: 'x'.repeat(1_000) } }).receives('b');
  expect(idsOf(replay(story, { bytes: 1_000 }))).toEqual(['b']);
  story.sends('b', { type: 'tool_result', text: 'y'.repeat(2_000) });
  expect(idsOf(replay(story, { bytes: 1_000 }))).toEqual(['b']);
  story.receives('c');
  expect(idsOf(replay(story, { bytes: 1_000 }))).toEqual(['c']);
});

test('a subscription that goes on for days keeps its result, its latest events, and how many there were', () => {
  const story = new MockStory();
  delivered(story, 'a');
  for (let event = 0; event < 500; event++)
    story.sends('a', { type: 'subscription_event', text: `${event}` }).answered(2_000 + event);
  const call = replay(story, { callbacks: 20 }).get('a');
  const [first] = call?.deliveries ?? [];
  expect(first?.body?.json).toMatchObject({ value: { type: 'tool_result' } });
  expect(call?.deliveries.at(-1)?.body?.json).toMatchObject({ value: { text: '499' } });
  expect(call?.deliveries.length).toBeLessThanOrEqual(21);
  expect((call?.deliveries.length ?? 0) + (call?.forgotten ?? 0)).toBe(501);
});

test('warnings without end do not grow either', () => {
  const story = new MockStory().receives('a');
  for (let each = 0; each < 300; each++) story.about('a', { kind: 'warned', message: `${each}` });
  expect(replay(story, { callbacks: 50 }).get('a')?.warnings).toHaveLength(50);
});
