import { expect, test } from 'vitest';
import { REQUIREMENTS } from '../../src/check/rules/all.js';

const ROWS = Object.entries(REQUIREMENTS);

test.each(ROWS)('the advice of %s is one short line', (id, { advice }) => {
  expect(advice).toMatch(/^[A-Z][^\n]+\.$/);
  expect(advice.length).toBeLessThanOrEqual(120);
  expect(advice).not.toContain(id);
});

test('each requirement has its own advice', () => {
  expect(new Set(ROWS.map(([, { advice }]) => advice)).size).toBe(ROWS.length);
});

test('the pages on invocations and results are quoted, and no requirement is stricter than its quote', () => {
  for (const [id, { level, source }] of ROWS) {
    expect({ id, isQuoted: source.words !== undefined }).toEqual({
      id,
      isQuoted: source.page !== 'public specification',
    });
    if (source.words?.match(/\b(MUST|SHOULD)\b/))
      expect(source.words, id).toMatch(new RegExp(`\\b${level}\\b`));
  }
});
