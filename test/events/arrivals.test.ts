import { describe, expect, test } from 'vitest';
import { History } from '../../src/events/history.js';
import {
  arrives,
  CHOICE,
  call,
  chose,
  EVENT,
  eventsOf,
  exchangeOf,
  KEY,
  type Moment,
  OAUTH,
  refused,
  resultArrives,
  timedOut,
  VIEW,
} from './build.js';

test('of a subscription that goes on for days the oldest events are forgotten, and not its result', () => {
  const history = new History();
  const tell = (...parts: Moment[][]) => {
    for (const event of eventsOf(...parts)) history.apply(event);
  };
  tell(call(), resultArrives({ subscription: true }, { leg: 'result' }));
  for (let count = 0; count < 3_500; count++)
    tell(arrives({ ...EVENT, text: `${count}` }, { leg: `e${count}` }));
  const exchange = history.exchanges.get(KEY);
  expect(exchange?.arrivals.length).toBeLessThanOrEqual(2_000);
  expect((exchange?.arrivals.length ?? 0) + (exchange?.forgotten ?? 0)).toBe(3_501);
  expect(exchange?.subscription?.events).toBe(3_500);
  expect(exchange?.arrivals[0]?.verdict.kind).toBe('settles');
  expect(exchange?.arrivals.at(-1)?.message).toMatchObject({ text: '3499' });
});

test('large ones sooner', () => {
  const history = new History();
  const text = 'x'.repeat(1024 * 1024);
  const story = Array.from({ length: 40 }, (_, index) => arrives({ ...EVENT, text }, { leg: `e${index}` }));
  for (const event of eventsOf(call(), resultArrives({ subscription: true }), ...story)) history.apply(event);
  const { arrivals = [], forgotten } = history.exchanges.get(KEY) ?? {};
  expect(arrivals.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(16 * 1024 * 1024);
  expect(arrivals.length + (forgotten ?? 0)).toBe(41);
});

const MEBIBYTE = 1024 * 1024;

test('a large result makes nothing forgotten: it cannot be', () => {
  const result = resultArrives({ subscription: true, text: 'x'.repeat(17 * MEBIBYTE) }, { leg: 'result' });
  const events = ['a', 'b', 'c'].map(text => arrives({ ...EVENT, text }, { leg: text }));
  const exchange = exchangeOf(call(), result, ...events);
  expect([exchange.arrivals.length, exchange.forgotten]).toEqual([4, 0]);
});

test('what has just come is there for its answer, however large it is', () => {
  const large = arrives({ ...EVENT, text: 'x'.repeat(17 * MEBIBYTE) }, { leg: 'large' });
  const exchange = exchangeOf(call(), resultArrives({ subscription: true }), large);
  expect(exchange.arrivals.at(-1)).toMatchObject({ leg: 'large', status: 200 });
});

describe('row 15: whatever a tool sends again and again, the oldest are forgotten', () => {
  const many = (moments: (index: number) => Moment[]) =>
    Array.from({ length: 3_500 }, (_, index) => moments(index));

  test.each([
    ['rejected', (index: number) => arrives('no', { leg: `${index}` })],
    ['refused', (index: number) => refused('too large', 413, { leg: `${index}`, to: KEY })],
    ['discarded', (index: number) => resultArrives({ id: `${index}` }, { leg: `${index}` })],
    ['noted', (index: number) => arrives({ ...VIEW, view_type: `${index}` }, { leg: `${index}` })],
    ['duplicate', (index: number) => resultArrives({ text: `${index}` }, { leg: `${index}` })],
  ])('%s', (_, moments) => {
    const exchange = exchangeOf(call(), resultArrives({}, { leg: 'result' }), ...many(moments));
    expect(exchange.arrivals.length).toBeLessThanOrEqual(2_000);
    expect(exchange.arrivals.length + exchange.forgotten).toBe(3_501);
    expect(exchange.arrivals[0]).toMatchObject({ leg: 'result', verdict: { kind: 'settles' } });
    expect(exchange.arrivals.at(-1)).toMatchObject({ leg: '3499', status: expect.any(Number) });
  });

  const flood = many(index => arrives(VIEW, { leg: `${index}` }));

  test('what is still asked is not', () => {
    const exchange = exchangeOf(call(), arrives(OAUTH, { leg: 'page' }), ...flood);
    expect(exchange.arrivals[0]?.leg).toBe('page');
    expect(exchange.waitingFor).toEqual(OAUTH);
  });

  test('what was answered is, with its question; it would not be asked again', () => {
    const asked = arrives(CHOICE, { leg: 'pick' });
    const again = arrives(CHOICE, { leg: 'again' });
    const exchange = exchangeOf(call(), asked, chose(1), ...flood, again);
    expect([exchange.questions, exchange.selections]).toEqual([[], []]);
    expect(exchange.arrivals.at(-1)?.verdict).toMatchObject({ kind: 'duplicate', identical: true });
  });

  test('a late result that is forgotten is known when it comes again', () => {
    const exchange = exchangeOf(
      call(),
      timedOut(),
      resultArrives({}, { leg: 'late' }),
      ...flood,
      resultArrives({}, { leg: 'again' }),
    );
    expect(exchange.arrivals.at(-1)?.verdict).toMatchObject({ kind: 'duplicate', identical: true });
  });
});

test('no one is asked more than a hundred things at a time', () => {
  const asked = Array.from({ length: 150 }, (_, index) =>
    arrives({ ...CHOICE, prompt: `${index}` }, { leg: `${index}` }),
  );
  const { questions, arrivals } = exchangeOf(call(), ...asked);
  expect(questions).toHaveLength(100);
  expect(arrivals.at(-1)?.verdict).toMatchObject({ kind: 'ignored', status: 200 });
});
