import { describe, expect, test } from 'vitest';
import { EventRing, RecentCalls, RecentEvents } from '../../src/events/bounded-events.js';
import { Content } from '../../src/events/content.js';
import type { Event, ResponseEvent } from '../../src/events/events.js';
import { delivered, MockStory } from '../support/mock-story.js';

const subscription = (story: MockStory, text = '') => {
  delivered(story, 'a');
  for (let event = 0; event < 500; event++)
    story.sends('a', { type: 'subscription_event', text: `${event}${text}` }).answered(2_000 + event);
  return story;
};

describe('RecentCalls', () => {
  function replay({ events }: MockStory, limits: ConstructorParameters<typeof RecentCalls>[0]): RecentCalls {
    const calls = new RecentCalls(limits);
    for (const event of events) calls.apply(event);
    return calls;
  }
  const idsOf = (calls: RecentCalls) => calls.list.map(({ key }) => key);

  test('drops the oldest call; later events do not restore it', () => {
    const story = new MockStory();
    for (const id of ['a', 'b', 'c']) delivered(story, id);
    story.matches('a', 'late');
    expect(idsOf(replay(story, { calls: 2 }))).toEqual(['b', 'c']);
    expect(idsOf(replay(story, {}))).toEqual(['a', 'b', 'c']);
  });

  test('row 15: limits the bytes of invocations and callbacks, but keeps the latest call', () => {
    const story = new MockStory();
    story.receives('a', { arguments: { text: 'x'.repeat(1_000) } }).receives('b');
    expect(idsOf(replay(story, { bytes: 1_000 }))).toEqual(['b']);
    story.sends('b', { type: 'tool_result', text: 'y'.repeat(2_000) });
    expect(idsOf(replay(story, { bytes: 1_000 }))).toEqual(['b']);
    story.receives('c');
    expect(idsOf(replay(story, { bytes: 1_000 }))).toEqual(['c']);
  });

  test('row 15: keeps the result, the latest events of a long subscription and the latest warnings', () => {
    const story = subscription(new MockStory());
    for (let each = 0; each < 300; each++) story.about('a', { kind: 'warned', message: `${each}` });
    const { deliveries = [], forgotten = 0, warnings } = replay(story, { callbacks: 20 }).get('a') ?? {};
    const texts = [deliveries[0], deliveries.at(-1)].map(each => each?.body?.json);
    expect(texts).toMatchObject([{ value: { type: 'tool_result' } }, { value: { text: '499' } }]);
    expect(deliveries.length).toBeLessThanOrEqual(21);
    expect(deliveries.length + forgotten).toBe(501);
    expect(warnings).toHaveLength(20);
  });
});

describe('RecentEvents', () => {
  function remembering() {
    const story = new MockStory();
    const events = new RecentEvents();
    story.log.subscribe(event => events.apply(event));
    return { story, events };
  }

  test('returns the events of a call from its invocation on', () => {
    const { story, events } = remembering();
    story.about('a', { kind: 'warned', message: 'too early' });
    delivered(story, 'a');
    story.receives('b');
    const kinds = events.of('a')?.events.map(({ kind }) => kind);
    expect(kinds).toEqual(['request', 'response', 'matched', 'request', 'response']);
  });

  test('includes the latest discovery response before the call', () => {
    const { story, events } = remembering();
    const about = { from: 'runtime', to: 'tool', method: 'GET', url: '/', headers: {}, attempt: 1 } as const;
    for (const leg of ['d1', 'd2']) {
      story.tell({ kind: 'request', purpose: 'discovery', leg, ...about });
      story.tell({ kind: 'response', leg, headers: {}, status: 200 });
    }
    story.receives('late');
    expect(events.of('late')?.discovery).toMatchObject([{ leg: 'd2' }, { leg: 'd2', status: 200 }]);
  });

  const large = 'x'.repeat(9 * 1024 * 1024);

  test('row 15: drops the oldest calls by number and by bytes, but not the latest', () => {
    const { story, events } = remembering();
    for (let id = 0; id <= 2_000; id++) story.receives(`${id}`);
    expect([events.of('0'), events.of('1')?.events.length]).toEqual([undefined, 2]);
    for (let id = 0; id < 4; id++) story.receives(`large ${id}`, { arguments: { large } });
    expect([events.of('2000'), events.of('large 0')]).toEqual([undefined, undefined]);
    expect(events.of('large 3')?.events.length).toBe(2);
  });

  test.each([
    ['events', 1_500, ''],
    ['bytes', 4, large],
  ])('row 15: keeps the invocation and the latest events of a long call, by %s', (_, count, text) => {
    const { story, events } = remembering();
    story.receives('a');
    for (let event = 0; event < count; event++)
      story.sends('a', { type: 'subscription_event', text: `${event}${text}` }).answered(2_000 + event);
    const { events: kept = [], forgotten = 0 } = events.of('a') ?? {};
    expect(kept.length + forgotten).toBe(2 * count + 2);
    expect(forgotten).toBeGreaterThan(0);
    expect(kept.length).toBeLessThanOrEqual(1_000);
    expect(kept[0]).toMatchObject({ kind: 'request', purpose: 'invocation' });
    expect(kept.at(-1)).toBe(story.events.at(-1));
  });
});

describe('EventRing', () => {
  const warned = (seq: number): Event => ({ kind: 'warned', message: '', seq, at: 0 });
  const answered = (seq: number, size: number): Event => ({
    kind: 'response',
    leg: 'l',
    status: 200,
    headers: {},
    body: new Content(new Uint8Array(size)),
    seq,
    at: 0,
  });
  const seqs = (ring: EventRing) => ring.events.map(({ seq }) => seq);
  const filled = (ring: EventRing, events: readonly Event[]) => {
    for (const event of events) ring.push(event);
    return ring;
  };
  const upTo = (count: number) => [...Array(count).keys()];

  test('keeps the latest events, counts the dropped ones, and starts again after clear', () => {
    const ring = filled(new EventRing({ events: 3 }), upTo(1_000).map(warned));
    expect([seqs(ring), ring.forgotten]).toEqual([[997, 998, 999], 997]);
    ring.clear();
    expect([ring.events, ring.forgotten]).toEqual([[], 0]);
  });

  test('row 15: keeps no more bytes than its limit; removes only a body larger than the limit', () => {
    const thirty = upTo(9).map(seq => answered(seq, 30));
    expect(seqs(filled(new EventRing({ bytes: 100 }), thirty))).toEqual([6, 7, 8]);
    const ring = filled(new EventRing({ bytes: 100 }), [answered(0, 30), answered(1, 101), answered(2, 70)]);
    expect([seqs(ring), ring.forgotten]).toEqual([[0, 1, 2], 0]);
    expect(ring.events[1]).toHaveProperty('body', undefined);
  });

  test('counts a body that consecutive responses share only once', () => {
    const ring = new EventRing({ bytes: 100 });
    const [polled, other] = [answered(0, 60), answered(3, 30)];
    filled(ring, [polled, { ...polled, seq: 1 }, { ...polled, seq: 2 }, other]);
    expect(seqs(ring)).toEqual([0, 1, 2, 3]);
    ring.push({ ...polled, seq: 4 });
    expect(seqs(ring)).toEqual([1, 2, 3, 4]);
  });

  const long = 'x'.repeat(60);
  test.each<[string, object]>([
    ['headers', { ...answered(0, 0), headers: { long } }],
    ['the key of a call', { calls: [long] }],
    ['a thread', { thread: long }],
    ['a message', { message: long }],
    [
      'the nearest fixture',
      { kind: 'matched', fixture: null, nearest: { fixture: long, path: '', reason: '' } },
    ],
  ])('row 15: counts %s', (_, fields) => {
    const events = upTo(3).map(seq => ({ ...warned(seq), ...fields, seq }) as Event);
    expect(seqs(filled(new EventRing({ bytes: 100 }), events))).toEqual([2]);
  });

  test('does not keep values that readers parse from a body', () => {
    const ring = filled(new EventRing(), [{ ...answered(0, 0), body: Content.ofJson({ a: 1 }) } as Event]);
    const [once, again] = [ring.events[0], ring.events[0]]
      .map(each => each as ResponseEvent)
      .map(({ body }) => body);
    expect(once?.json).toMatchObject({ value: { a: 1 } });
    expect(once).not.toBe(again);
  });
});
