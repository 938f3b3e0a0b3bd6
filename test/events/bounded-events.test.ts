import { describe, expect, test } from 'vitest';
import { EventRing, RecentCalls } from '../../src/events/bounded-events.js';
import { Content } from '../../src/events/content.js';
import type { Event, ResponseEvent } from '../../src/events/events.js';
import { typeOfDelivery } from '../../src/events/tool-call.js';
import { LIMITS } from '../../src/util/limits.js';
import { delivered, MockEvents } from '../support/mock-events.js';

describe('RecentCalls', () => {
  function remembered() {
    const mock = new MockEvents();
    const calls = new RecentCalls();
    mock.log.subscribe(event => calls.apply(event));
    return { mock, calls };
  }

  test('returns a call with its events from its invocation on', () => {
    const { mock, calls } = remembered();
    mock.about('a', { kind: 'warned', message: 'too early' });
    delivered(mock, 'a');
    mock.receives('b');
    const kinds = calls.get('a')?.events.map(({ kind }) => kind);
    expect(kinds).toEqual(['request', 'response', 'matched', 'request', 'response']);
  });

  test('includes the latest discovery response before the call', () => {
    const { mock, calls } = remembered();
    const about = { from: 'runtime', to: 'tool', method: 'GET', url: '/', headers: {}, attempt: 1 } as const;
    for (const leg of ['d1', 'd2']) {
      mock.emit({ kind: 'request', purpose: 'discovery', leg, ...about });
      mock.emit({ kind: 'response', leg, headers: {}, status: 200 });
    }
    mock.receives('late');
    expect(calls.get('late')?.discovery).toMatchObject([{ leg: 'd2' }, { leg: 'd2', status: 200 }]);
  });

  test('drops the oldest call; later events do not restore it', () => {
    const { mock, calls } = remembered();
    const ids = Array.from({ length: LIMITS.callsKept.value + 1 }, (_, index) => `${index}`);
    for (const id of ids) mock.receives(id);
    mock.matches('0', 'late');
    expect(calls.keys).toEqual(ids.slice(1));
  });

  const large = 'x'.repeat(9 * 1024 * 1024);

  test('row 15: limits the bytes of all calls, but keeps the latest call', () => {
    const { mock, calls } = remembered();
    for (let id = 0; id < 5; id++) mock.receives(`${id}`, { arguments: { large } });
    expect(calls.keys).toEqual(['2', '3', '4']);
  });

  test.each([
    ['events', 1_500, ''],
    ['bytes', 4, large],
  ])(
    'row 15: keeps the invocation, the result and the latest events of a long call, by %s',
    (_, count, text) => {
      const { mock, calls } = remembered();
      delivered(mock, 'a');
      const before = mock.events.length;
      for (let event = 0; event < count; event++)
        mock.sends('a', { type: 'subscription_event', text: `${event}${text}` }).answered(2_000 + event);
      const { events = [], forgotten = 0, call } = calls.get('a') ?? {};
      expect(events.length + forgotten).toBe(2 * count + before);
      expect(forgotten).toBeGreaterThan(0);
      expect(events.length).toBeLessThanOrEqual(LIMITS.eventsOfCall.value);
      expect(events[0]).toMatchObject({ kind: 'request', purpose: 'invocation' });
      expect(events.at(-1)).toBe(mock.events.at(-1));
      const { deliveries = [], forgotten: callbacks = 0, answeredBy } = call ?? {};
      expect([deliveries.length + callbacks, answeredBy]).toEqual([count + 1, 'edit-main']);
      expect(deliveries.slice(0, 1).map(typeOfDelivery)).toEqual(['tool_result']);
      expect(deliveries.length).toBeLessThan(events.length);
    },
  );

  test('row 15: keeps the first and the latest of many invocations; few of them copy the list', () => {
    const { mock, calls } = remembered();
    const lists = new Set<unknown>();
    for (let each = 1; each <= 4_000; each++) {
      mock.receives('a', {}, { attempt: each });
      lists.add(calls.get('a')?.events);
    }
    const { events = [], call } = calls.get('a') ?? {};
    expect([call?.arrivals, lists.size < 20, events.length <= LIMITS.eventsOfCall.value]).toEqual([
      4_000,
      true,
      true,
    ]);
    expect([events[0], events.at(-2)]).toMatchObject([{ attempt: 1 }, { attempt: 4_000 }]);
  });

  test('row 15: keeps the latest warnings', () => {
    const { mock, calls } = remembered();
    mock.receives('a');
    for (let each = 0; each < 3_000; each++) mock.about('a', { kind: 'warned', message: `${each}` });
    const { warnings = [] } = calls.get('a')?.call ?? {};
    expect([warnings.length <= LIMITS.eventsOfCall.value, warnings.at(-1)]).toEqual([true, '2999']);
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
