import { describe, expect, test } from 'vitest';
import { DriverAbilities, readDriverLine } from '../../src/protocol/driver.js';
import { guide } from '../readme/examples.js';
import { publishedSchema } from '../support/published-schema.js';

const { faultsOf } = publishedSchema('driver');

const lines = [...guide('runtimes').text.matchAll(/^\| `(\{"(do|saw|cannot|can)".*\})` \|/gm)];

test('the guide shows every line', () => expect(lines).toHaveLength(17));

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
    ['refuse optional abilities that are no list', '{"can":"child-thread"}', false, false],
    ['take both in one line', '{"cannot":["human"],"can":["child-thread"]}', true, true],
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

test('a driver supports an optional ability only if it says so, and any other unless it says that it cannot', () => {
  const abilities = new DriverAbilities();
  expect(abilities.supports('cancel', 'human')).toBe(true);
  expect(abilities.supports('child-thread')).toBe(false);
  abilities.add({ can: ['child-thread'] });
  abilities.add({ cannot: ['human'] });
  expect(abilities.supports('child-thread', 'cancel')).toBe(true);
  expect(abilities.supports('cancel', 'human')).toBe(false);
});
