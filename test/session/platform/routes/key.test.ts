import { expect, test } from 'vitest';
import { keyCheck } from '../../../../src/session/platform/routes.js';

const shows = keyCheck('k-123');

test.each(['Bearer k-123', 'bearer k-123', 'Bearer  k-123 '])('%j shows the key', authorization => {
  expect(shows({ headers: { authorization } })).toBe(true);
});

test.each([
  undefined,
  '',
  'k-123',
  'Bearer',
  'Bearer k-1234',
  'Bearer k-12',
  'Basic k-123',
  'Bearer k-123 x',
  'Bearer K-123',
])('%j does not', authorization => {
  expect(shows({ headers: { ...(authorization !== undefined && { authorization }) } })).toBe(false);
});
