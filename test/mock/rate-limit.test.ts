import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createLog } from '../../src/events/log.js';
import type { Rate } from '../../src/mock/responder.js';
import { Responder } from '../../src/mock/responder.js';
import { callOf } from '../fixtures/build.js';
import { fakeClock } from '../support/fake-clock.js';

/** Whether a call at this time, in ms, is within the rate. */
function limiter(rateLimit: Rate): (at: number) => boolean {
  let now = 0;
  const clock = { ...fakeClock(), now: () => now };
  const responder = new Responder({ rateLimit, clock }, new Map(), 'seed', createLog(clock.now));
  return at => {
    now = at;
    const plan = responder.plan(callOf());
    return !plan.facts.some(fact => fact.kind === 'planned' && fact.plan === 'rate-limit');
  };
}

test.each<[string, Rate, number[], number[]]>([
  [
    'a burst, then one at a time',
    { calls: 2, within: 1_000 },
    [0, 0, 0, 499, 500, 501, 1_000],
    [0, 0, 500, 1_000],
  ],
  ['one at a time', { calls: 1, within: 10_000 }, [0, 1, 9_999, 10_000, 10_000], [0, 10_000]],
  [
    'a pause refills it, up to its capacity',
    { calls: 2, within: 1_000 },
    [0, 0, 9_000, 9_001, 9_002],
    [0, 0, 9_000, 9_001],
  ],
  ['uneven times', { calls: 3, within: 1_000 }, [0, 0, 0, 333, 334], [0, 0, 0, 334]],
  [
    'a clock that runs backwards adds nothing',
    { calls: 1, within: 1_000 },
    [5_000, 4_000, 6_000],
    [5_000, 6_000],
  ],
])('TOOL-RATE: %s', (_, rate, times, accepted) => {
  expect(times.filter(limiter(rate))).toEqual(accepted);
});

test('TOOL-RATE: no window contains more calls than the burst and its refill', () => {
  const rates = fc.record({
    calls: fc.integer({ min: 1, max: 20 }),
    within: fc.integer({ min: 1, max: 5_000 }),
  });
  const times = fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 });
  fc.assert(
    fc.property(rates, times, (rate, unsorted) => {
      const taken = unsorted.sort((a, b) => a - b).filter(limiter(rate));
      for (const [first, from] of taken.entries())
        for (const [more, to] of taken.slice(first).entries())
          expect(more + 1).toBeLessThanOrEqual(rate.calls + (rate.calls / rate.within) * (to - from) + 1e-3);
    }),
  );
});
