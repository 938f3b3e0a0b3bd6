import { expect, test } from 'vitest';
import { fixtureVerdict, isFine } from '../../../src/events/verification.js';

const at = { id: 'a', place: 'tool.yaml:7' };

test.each([
  [undefined, 0, 'unused'],
  [undefined, 1, 'used'],
  [undefined, 9, 'used'],
  [{}, 0, 'unused'],
  [{ calls: {} }, 0, 'unused'],
  [{ calls: { min: 0 } }, 0, 'not-needed'],
  [{ calls: { min: 0 } }, 3, 'used'],
  [{ calls: { min: 2 } }, 0, 'unused'],
  [{ calls: { min: 2 } }, 1, 'too-few'],
  [{ calls: { min: 2 } }, 2, 'used'],
  [{ calls: { max: 2 } }, 0, 'unused'],
  [{ calls: { max: 2 } }, 2, 'used'],
  [{ calls: { max: 2 } }, 3, 'too-many'],
  [{ calls: { max: 0 } }, 0, 'not-needed'],
  [{ calls: { max: 0 } }, 1, 'too-many'],
  [{ calls: { min: 1, max: 1 } }, 1, 'used'],
] as const)('expecting %j, with %i calls, it is %s', (expected, calls, status) => {
  const verdict = fixtureVerdict({ ...at, expect: expected }, calls);
  expect(verdict).toMatchObject({ ...at, calls, status });
  expect(isFine(verdict)).toBe(status === 'used' || status === 'not-needed');
});
