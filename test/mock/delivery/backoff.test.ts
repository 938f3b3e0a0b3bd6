import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pauseMs } from '../../../src/mock/outbox.js';

const NOW = new Date('1994-11-06T08:49:00Z');
const MAX = 10_000;

describe('the pause before another attempt', () => {
  it.each([
    [1, 200],
    [2, 400],
    [3, 800],
    [6, 6_400],
    [7, MAX],
    [5_000, MAX],
  ])('after %i failures is drawn from 0 to %i ms', (failures, upTo) => {
    const drawn = [0, 0.5, 1].map(random => pauseMs({ failures }, random, MAX, NOW));
    expect(drawn).toEqual([0, upTo / 2, upTo]);
  });

  it.each([
    ['2', 2_000],
    ['0', 100],
    ['Sun, 06 Nov 1994 08:49:03 GMT', 3_000],
    ['3600', MAX],
    ['99999999999999999999', MAX],
    ['Sun, 06 Nov 2094 08:49:03 GMT', MAX],
    ['-1', 100],
    ['soon', 100],
  ])('is not less than a Retry-After asks for, within the bound: %s', (retryAfter, expected) => {
    expect(pauseMs({ failures: 1, retryAfter }, 0.5, MAX, NOW)).toBe(expected);
  });

  it('is never over the bound, negative or no number', () => {
    const date = fc.date({ noInvalidDate: true }).map(day => day.toUTCString());
    const retryAfter = fc.option(fc.oneof(fc.string(), date, fc.nat().map(String)), { nil: undefined });
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000 }), random, retryAfter, (failures, drawn, asked) => {
        const pause = pauseMs({ failures, retryAfter: asked }, drawn, MAX, NOW);
        expect(pause >= 0 && pause <= MAX).toBe(true);
      }),
    );
  });
});
