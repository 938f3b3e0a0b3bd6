import { describe, expect, it } from 'vitest';
import { EventRing } from '../../src/events/bounded-events.js';
import { Content } from '../../src/events/content.js';
import type { Event } from '../../src/events/events.js';

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

describe('a ring of events', () => {
  it.each([
    [0, 0],
    [2, 0],
    [3, 0],
    [4, 1],
    [10, 7],
  ])('keeps the last three of %i, and counts the %i others', (count, forgotten) => {
    const ring = filled(new EventRing({ events: 3 }), upTo(count).map(warned));
    expect(seqs(ring)).toEqual(upTo(count).slice(-3));
    expect(ring.forgotten).toBe(forgotten);
  });

  it('row 15: keeps no more bytes than it may, the latest', () => {
    const ring = filled(
      new EventRing({ bytes: 100 }),
      upTo(9).map(seq => answered(seq, 30)),
    );
    expect([seqs(ring), ring.forgotten]).toEqual([[6, 7, 8], 6]);
    ring.push(answered(9, 100));
    expect([seqs(ring), ring.forgotten]).toEqual([[9], 9]);
  });

  it('row 15: leaves out a body larger than all there is room for, and nothing else', () => {
    const ring = filled(new EventRing({ bytes: 100 }), [answered(0, 30), answered(1, 101), answered(2, 70)]);
    expect([seqs(ring), ring.forgotten]).toEqual([[0, 1, 2], 0]);
    expect(ring.events[1]).toHaveProperty('body', undefined);
  });

  it('counts the same body once, where one answer after another has it', () => {
    const ring = new EventRing({ bytes: 100 });
    const [polled, other] = [answered(0, 60), answered(3, 30)];
    filled(ring, [polled, { ...polled, seq: 1 }, { ...polled, seq: 2 }, other]);
    expect(seqs(ring)).toEqual([0, 1, 2, 3]);
    ring.push({ ...polled, seq: 4 });
    expect(seqs(ring)).toEqual([1, 2, 3, 4]);
  });

  it('row 15: counts urls and headers too, which come from outside as well', () => {
    const long = 'x'.repeat(60);
    const ring = filled(
      new EventRing({ bytes: 100 }),
      upTo(3).map(seq => ({ ...answered(seq, 0), headers: { long } })),
    );
    expect(seqs(ring)).toEqual([2]);
  });

  it('starts afresh when it is cleared', () => {
    const ring = filled(
      new EventRing({ events: 2, bytes: 100 }),
      upTo(5).map(seq => answered(seq, 50)),
    );
    ring.clear();
    expect([ring.events, ring.forgotten]).toEqual([[], 0]);
    filled(ring, [answered(5, 50), answered(6, 50)]);
    expect([seqs(ring), ring.forgotten]).toEqual([[5, 6], 0]);
  });

  it.each<[string, Partial<Event>]>([
    ['the key of a call', { calls: ['x'.repeat(60)] }],
    ['a thread', { thread: 'x'.repeat(60) }],
    ['a message', { message: 'x'.repeat(60) }],
    [
      'what is reported of the nearest fixture',
      { kind: 'matched', fixture: null, nearest: { fixture: 'x'.repeat(60), path: '', reason: '' } },
    ],
  ])('row 15: counts %s', (_, long) => {
    const events = upTo(3).map(seq => ({ ...warned(seq), ...long }) as Event);
    expect(seqs(filled(new EventRing({ bytes: 100 }), events))).toEqual([2]);
  });

  it('does not keep what its readers read of a body', () => {
    const body = Content.ofJson({ a: 1 });
    const ring = filled(new EventRing(), [{ ...answered(0, 0), body } as Event]);
    const [once, again] = [ring.events[0], ring.events[0]].map(
      event => event && 'body' in event && event.body,
    );
    expect(once && again && once.bytes === body.bytes && once.json).toMatchObject({
      ok: true,
      value: { a: 1 },
    });
    expect(once).not.toBe(again);
  });

  it('stays right however often it went round', () => {
    const ring = filled(new EventRing({ events: 7 }), upTo(1_000).map(warned));
    expect([seqs(ring), ring.forgotten]).toEqual([[993, 994, 995, 996, 997, 998, 999], 993]);
  });
});
