import { expect, test } from 'vitest';
import { Query } from '../../../../src/session/platform/create-and-read.js';

test('fields that are left out are as preset', () => {
  const query = new Query('/x');
  expect([
    query.whole('a', 7),
    query.whole('b', null),
    query.seconds('c', 60),
    query.flag('d', true),
  ]).toEqual([7, null, 0, true]);
  expect(query.faults).toEqual([]);
});

test('fields are read, and what is too much is the most there is', () => {
  const query = new Query('/x?a=3&b=900&c=2.5&d=False&e=99');
  expect([
    query.whole('a', 0),
    query.whole('b', 0, { max: 200 }),
    query.seconds('c', 60),
    query.flag('d', true),
    query.seconds('e', 60),
  ]).toEqual([3, 200, 2.5, false, 60]);
  expect(query.faults).toEqual([]);
});

test.each([
  ['whole', 'a=x', 'int_parsing'],
  ['whole', 'a=', 'int_parsing'],
  ['whole', 'a=1e3', 'int_parsing'],
  ['whole', 'a=-1', 'greater_than_equal'],
  ['whole', 'a=0', 'greater_than_equal'],
  ['seconds', 'a=Infinity', 'float_parsing'],
  ['seconds', 'a=-1', 'float_parsing'],
  ['flag', 'a=yes', 'bool_parsing'],
] as const)('%s: %s is a fault, and the preset holds', (kind, text, type) => {
  const query = new Query(`/x?${text}`);
  if (kind === 'whole') expect(query.whole('a', 5, { min: 1 })).toBe(5);
  if (kind === 'seconds') expect(query.seconds('a', 60)).toBe(0);
  if (kind === 'flag') expect(query.flag('a', true)).toBe(true);
  expect(query.faults).toMatchObject([{ type, loc: ['query', 'a'], input: text.slice(2) }]);
});
