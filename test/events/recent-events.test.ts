import { describe, expect, test } from 'vitest';
import { type RecentEventLimits, RecentEvents } from '../../src/events/bounded-events.js';
import { delivered, MockStory } from '../support/mock-story.js';

/** What is remembered of a story that goes on. */
function remembering(limits: Partial<RecentEventLimits> = {}) {
  const story = new MockStory();
  const events = new RecentEvents(limits);
  story.log.subscribe(event => events.apply(event));
  return { story, kindsOf: (id: string) => events.of(id)?.events.map(({ kind }) => kind), events };
}

describe('the events of a call', () => {
  test('are those that name it, in the order in which they happened', () => {
    const { story, kindsOf } = remembering();
    delivered(story, 'a');
    story.receives('b');
    expect(kindsOf('a')).toEqual(['request', 'response', 'matched', 'request', 'response']);
    expect(kindsOf('b')).toEqual(['request', 'response']);
  });

  test('begin with its invocation', () => {
    const { story, events } = remembering();
    story.about('a', { kind: 'warned', message: 'too early' });
    expect(events.of('a')).toBeUndefined();
  });

  test('come with the discovery that was answered last before it', () => {
    const { story, events } = remembering();
    story.receives('early');
    discovers(story);
    const second = discovers(story);
    story.receives('late');
    expect(events.of('early')?.discovery).toEqual([]);
    expect(events.of('late')?.discovery).toEqual(second);
  });
});

describe('memory is bounded', () => {
  test('in calls: the oldest go first', () => {
    const { story, events } = remembering({ calls: 2 });
    for (const id of ['a', 'b', 'c']) delivered(story, id);
    expect(['a', 'b', 'c'].map(id => events.of(id) !== undefined)).toEqual([false, true, true]);
  });

  test('in bytes, but the latest call stays however large it is', () => {
    const { story, events } = remembering({ bytes: 10_000 });
    story.receives('a').receives('b', { arguments: { large: 'x'.repeat(20_000) } });
    expect([events.of('a'), events.of('b')?.events.length]).toEqual([undefined, 2]);
  });

  test.each([
    ['events', { eventsOfCall: 40 }, ''],
    ['bytes', { bytesOfCall: 40_000 }, 'x'.repeat(1_000)],
  ])('in %s of one call that goes on: what came stays, and what was sent last', (_, limits, text) => {
    const { story, events } = remembering(limits);
    story.receives('a');
    for (let event = 0; event < 500; event++)
      story.sends('a', { type: 'subscription_event', text: `${event} ${text}` }).answered(event);
    const { events: kept = [], forgotten = 0 } = events.of('a') ?? {};
    expect(kept.length + forgotten).toBe(1_002);
    expect(kept.length).toBeLessThanOrEqual(80);
    expect(kept[0]).toMatchObject({ kind: 'request', purpose: 'invocation' });
    expect(kept.at(-1)).toBe(story.events.at(-1));
  });

  test('where something was forgotten, another file takes the place of the one before', () => {
    const { story, events } = remembering({ eventsOfCall: 4 });
    story.receives('a');
    const before = events.of('a');
    story.about('a', { kind: 'warned', message: 'one' });
    expect(events.of('a')).toBe(before);
    for (let count = 0; count < 3; count++) story.about('a', { kind: 'warned', message: 'more' });
    expect(events.of('a')).not.toBe(before);
  });
});

/** A question for the toolset, and its answer. */
function discovers(story: MockStory) {
  const leg = story.log.leg();
  const from = story.events.length;
  story.tell({
    kind: 'request',
    from: 'runtime',
    to: 'tool',
    purpose: 'discovery',
    method: 'GET',
    url: '/.well-known/rap-toolset',
    headers: {},
    leg,
    attempt: 1,
  });
  story.tell({ kind: 'response', leg, headers: {}, status: 200 });
  return story.events.slice(from);
}
