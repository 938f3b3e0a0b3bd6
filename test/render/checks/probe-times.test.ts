import { expect, test } from 'vitest';
import { probeTimes, wholeTime } from '../../../src/render/outputs/check.js';
import { acknowledged, at, call, eventsOf, KEY, type Moment, resultArrives } from '../../events/build.js';

const planned = (plan: string, calls?: string[]): Moment[] => [
  { kind: 'planned', by: 'probe', plan, ...(calls && { calls }) },
];

const EVENTS = eventsOf(
  planned('close'),
  planned('valid-call'),
  at(10, planned('valid-call', [KEY])),
  at(11, call()),
  at(15, acknowledged()),
  at(40, resultArrives()),
);

test('a probe takes from its first call to the last that is heard of it', () => {
  const [close, valid] = probeTimes(EVENTS);
  expect(close).toEqual({ id: 'close', calls: 0, ms: null });
  expect(valid).toMatchObject({ id: 'valid-call', calls: 1 });
  expect(valid?.ms).toBeGreaterThanOrEqual(30);
  expect(valid?.ms).toBe(wholeTime(EVENTS) - 10);
});

test('a probe of very many calls is timed as any other', () => {
  const keys = Array.from({ length: 150_000 }, (_, index) => `k${index}`);
  const events = eventsOf(at(10, planned('flood', keys)), at(20, planned('flood', ['last'])));
  expect(probeTimes(events)).toMatchObject([{ id: 'flood', calls: 150_001, ms: expect.any(Number) }]);
});

test('what nobody probed has none', () => {
  expect(probeTimes(eventsOf(call()))).toEqual([]);
  expect(wholeTime([])).toBe(0);
});
