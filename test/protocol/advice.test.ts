import { expect, test } from 'vitest';
import { ADVICE, REQUIREMENTS, type RequirementId } from '../../src/protocol/requirements.js';

/** So much is read at a glance. */
const LONGEST = 120;

test.each(Object.keys(REQUIREMENTS) as RequirementId[])('%s: one sentence or two, on one line', id => {
  expect(ADVICE[id]).toMatch(/^[A-Z][^\n]+\.$/);
  expect(ADVICE[id].length).toBeLessThanOrEqual(LONGEST);
  expect(ADVICE[id]).not.toContain(id);
});

test('each requirement has an advice of its own', () => {
  expect(new Set(Object.values(ADVICE)).size).toBe(Object.keys(REQUIREMENTS).length);
});
