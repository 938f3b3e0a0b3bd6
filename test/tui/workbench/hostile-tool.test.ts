import { expect, test } from 'vitest';
import { readyServer, toolOf } from './support/bench.js';
import { openSession } from './support/open-session.js';

const WORDS = Array.from({ length: 100_000 }, (_, index) => `word ${index}`);
const nested = (depth: number): object =>
  depth === 0 ? { type: 'string' } : { type: 'array', minItems: 100, items: nested(depth - 1) };

test.each<[string, Readonly<Record<string, unknown>>]>([
  ['nested arrays of 100, 6 deep', { properties: { a: nested(6) }, required: ['a'] }],
  ['a default of 5 MB', { properties: { a: { type: 'string', default: 'x'.repeat(5_000_000) } } }],
  ['an enum of 100,000 values', { properties: { a: { enum: WORDS } } }],
  [
    'a name of a megabyte among 1,000',
    {
      properties: Object.fromEntries(
        ['x'.repeat(1_000_000), ...WORDS.slice(0, 1_000)].map(word => [word, {}]),
      ),
    },
  ],
  ['10,000 properties', { properties: Object.fromEntries(WORDS.slice(0, 10_000).map(word => [word, {}])) }],
])('threats, row 22: %s: tools page, form and keys are drawn soon', (_, schema) => {
  const tool = toolOf('hostile', { inputSchema: { type: 'object', ...schema } });
  const start = performance.now();
  const session = openSession({ servers: [readyServer([tool])] });
  for (const key of ['j', '<pageDown>', '<enter>', '<down>', 'x', '<ctrl-e>', 'y', '<ctrl-e>', '<ctrl-r>']) {
    session.press(key);
    session.sees();
  }
  expect(performance.now() - start).toBeLessThan(3_000);
  expect(session.sees()).toContain('hostile');
});
