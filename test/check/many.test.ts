import { expect, test } from 'vitest';
import { gather } from '../../src/check/evidence.js';
import { checksOf } from '../../src/check/judge.js';
import { eventsOf } from '../events/build.js';
import { discovery, notice, someCall } from './samples/parts.js';

const CALLBACKS = 4_000;

const CALLS = 2_000;

/** A generous limit that quadratic work would still exceed. */
const MOST_MS = 20_000;

test('judges a call with thousands of events in time', { timeout: 60_000 }, async () => {
  const a = someCall('a');
  const text = 'x'.repeat(2_000);
  const news = Array.from({ length: CALLBACKS }, (_, index) => a.news({ text: `${text} ${index}` }));
  const events = eventsOf(discovery(), a.sent(), a.answered(), a.result({ subscription: true }), ...news);
  const begun = performance.now();
  for (const side of ['tool', 'runtime'] as const) checksOf(side, [await gather({ events }, side)]);
  expect(performance.now() - begun).toBeLessThan(MOST_MS);
});

test('judges as many calls of one operation with extra fields in time', { timeout: 60_000 }, async () => {
  const failure = { text: 'Error: nothing there.' };
  const stories = Array.from({ length: CALLS }, (_, index) => {
    const call = someCall(`call_${index}`, index % 2 === 0 ? { x_trace: 1 } : {});
    return [call.sent(), call.answered(), call.result(failure)];
  });
  const events = eventsOf(discovery(), ...stories.flat());
  const begun = performance.now();
  for (const side of ['tool', 'runtime'] as const) checksOf(side, [await gather({ events }, side)]);
  expect(performance.now() - begun).toBeLessThan(MOST_MS);
});

const times = <T>(count: number, make: (index: number) => readonly T[]) =>
  Array.from({ length: count }, (_, index) => make(index)).flat();

const shared = { id: 'same', group_id: 'g' };

/** Doubling the number doubles the time of linear work; quadratic work takes four times as long. */
test.each([
  [
    'calls with one id, which look like retries',
    4_000,
    () => {
      const call = someCall('k', shared);
      return [call.sent(), call.answered(), call.result(shared)].flat();
    },
  ],
  [
    'calls with one id and a closed thread each',
    2_000,
    (index: number) => {
      const call = someCall(`k${index}`, shared);
      return [call.sent(), call.answered(), call.result(shared), notice('close', {}, { thread: 'g' })].flat();
    },
  ],
  [
    'answered questions of one call',
    2_000,
    (index: number) => {
      const call = someCall('k', shared);
      const begin = index === 0 ? [call.sent(), call.answered()].flat() : [];
      return [...begin, ...call.asks({ ...shared, prompt: `${index}?` }), ...call.selected()];
    },
  ],
])('judges thousands of %s in linear time', { timeout: 60_000 }, async (_, count, make) => {
  const judging = async (number: number) => {
    const events = eventsOf(discovery(), times(number, make));
    const begun = process.cpuUsage().user;
    for (const side of ['tool', 'runtime'] as const) checksOf(side, [await gather({ events }, side)]);
    return process.cpuUsage().user - begun;
  };
  await judging(count / 4); // compiles on the first run
  const [once, twice] = [await judging(count), await judging(2 * count)];
  expect(twice / once).toBeLessThan(3.2);
});
