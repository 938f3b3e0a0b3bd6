import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRate, type Rate, rateGate } from '../../src/mock/limits.js';

describe('a rate', () => {
  test.each([
    ['10/s', 10, 1_000],
    ['100/m', 100, 60_000],
    ['1/h', 1, 3_600_000],
    ['5/10s', 5, 10_000],
    ['3/500ms', 3, 500],
    ['2/ms', 2, 1],
    ['7/250', 7, 250],
    [' 10 / 1.5s ', 10, 1_500],
  ])('%j', (text, calls, within) => {
    expect(parseRate(text)).toEqual({ calls, within });
  });

  test.each([
    '',
    '10',
    '/s',
    '0/s',
    '10/0s',
    '10/',
    '-1/s',
    '1.5/s',
    '10/d',
    '10/s/s',
    '10/ss',
    's/10',
    '1e3/s',
  ])('rejects %j', text => {
    expect(parseRate(text)).toBeNull();
  });
});

/** A gate that is reported the time. */
function limiter(rate: Rate) {
  let now = 0;
  const gate = rateGate(rate, { now: () => now });
  return {
    take(at: number) {
      now = at;
      return gate();
    },
  };
}

describe('a limiter', () => {
  test.each([
    ['a burst, then one at a time', '2/s', [0, 0, 0, 499, 500, 501, 1_000], [0, 0, 500, 1, 0, 499, 0]],
    ['one at a time', '1/10s', [0, 1, 9_999, 10_000, 10_000], [0, 9_999, 1, 0, 10_000]],
    ['a pause refills it, up to its capacity', '2/s', [0, 0, 9_000, 9_000, 9_000], [0, 0, 0, 0, 500]],
    ['uneven times are rounded up', '3/s', [0, 0, 0, 0, 334], [0, 0, 0, 334, 0]],
    ['a clock that runs backwards adds nothing', '1/s', [5_000, 4_000, 6_000], [0, 2_000, 0]],
  ])('%s', (_, rate, times, waits) => {
    const { take } = limiter(parseRate(rate) ?? { calls: 0, within: 0 });
    expect(times.map(now => take(now))).toEqual(waits);
  });

  const rates = fc.record({
    calls: fc.integer({ min: 1, max: 20 }),
    within: fc.integer({ min: 1, max: 5_000 }),
  });
  const pauses = fc.array(fc.integer({ min: 0, max: 700 }), { maxLength: 60 });

  test('no window contains more calls than the burst and its refill', () => {
    fc.assert(
      fc.property(rates, pauses, (rate, steps) => {
        const { take } = limiter(rate);
        const taken = timesOf(steps).filter(now => take(now) === 0);
        for (const [first, from] of taken.entries())
          for (const [more, to] of taken.slice(first).entries())
            expect(more + 1).toBeLessThanOrEqual(
              rate.calls + (rate.calls / rate.within) * (to - from) + 1e-3,
            );
      }),
    );
  });

  test('a caller that waits as long as demanded is accepted, and not a millisecond too late', () => {
    fc.assert(
      fc.property(rates, pauses, fc.integer({ min: 0, max: 1e12 }), (rate, steps, start) => {
        const { take } = limiter(rate);
        let late = start;
        for (const time of timesOf(steps)) {
          const now = late + time;
          const wait = take(now);
          if (wait > 1) expect(take(now + wait - 1)).toBeGreaterThan(0);
          if (wait > 0) expect(take(now + wait)).toBe(0);
          late += wait;
        }
      }),
    );
  });
});

/** Each step after the one before it. */
function timesOf(steps: readonly number[]): number[] {
  let now = 0;
  return steps.map(step => {
    now += step;
    return now;
  });
}
