import { expect, test } from 'vitest';
import { REQUIREMENTS, SOURCES } from '../../src/protocol/requirements.js';

const SOURCED = Object.entries(SOURCES);

test('every requirement says which page asks for it', () => {
  expect(Object.keys(SOURCES).sort()).toEqual(Object.keys(REQUIREMENTS).sort());
});

test('the two pages that are quoted are quoted word for word', () => {
  for (const [id, { page, words }] of SOURCED)
    expect({ id, isQuoted: words !== undefined }).toEqual({ id, isQuoted: page !== 'public specification' });
});

test.each(
  SOURCED.flatMap(([id, { words }]) => (words?.match(/\b(MUST|SHOULD)\b/) ? [[id, words] as const] : [])),
)('%s is no stricter than its words', (id, words) => {
  const { level } = REQUIREMENTS[id as keyof typeof REQUIREMENTS];
  expect(words).toMatch(new RegExp(`\\b${level}\\b`));
});
