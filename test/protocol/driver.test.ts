import { describe, expect, test } from 'vitest';
import { readDriverLine } from '../../src/protocol/driver.js';
import { guide } from '../readme/examples.js';
import { publishedSchema } from '../support/published-schema.js';

const { faultsOf } = publishedSchema('driver');

const lines = [...guide('runtimes').text.matchAll(/^\| `(\{"(do|saw|cannot)".*\})` \|/gm)];

test('the guide shows every line', () => expect(lines).toHaveLength(14));

describe('a line of the guide is valid', () => {
  test.each(lines.map(([, line = '', name]) => ({ line, name })))('$line', ({ line, name }) => {
    expect(faultsOf(JSON.parse(line))).toEqual([]);
    if (name !== 'do')
      expect(readDriverLine(Buffer.from(line))).toMatchObject({ ok: true, value: JSON.parse(line) });
  });
});

describe('the reader and the schema', () => {
  test.each<readonly [string, string, boolean, boolean]>([
    ['ignore unknown members', '{"saw":"model","text":"a","more":1}', true, true],
    ['refuse an unknown observation', '{"saw":"smell"}', false, false],
    ['refuse a missing text', '{"saw":"model"}', false, false],
    ['refuse a list', '[]', false, false],
    ['refuse abilities that are no list', '{"cannot":"human"}', false, false],
    [
      'differ about null: the reader takes it for absent',
      '{"saw":"model","id":null,"text":"a"}',
      true,
      false,
    ],
  ])('%s', (_, line, isRead, isValid) => {
    expect(readDriverLine(Buffer.from(line)).ok).toBe(isRead);
    expect(faultsOf(JSON.parse(line)).length === 0).toBe(isValid);
  });
});
