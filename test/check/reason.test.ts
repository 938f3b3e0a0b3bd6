import { expect, test } from 'vitest';
import { reasonOf } from '../../src/check/judge.js';
import { broken, held } from '../../src/check/rule.js';
import { callbackSecrets } from '../../src/events/shareable.js';
import { rowLines } from '../../src/render/check-rows.js';
import { plainText } from '../support/words.js';

const faults = (count: number) => Array.from({ length: count }, (_, index) => `$.tools[${index}]: is wrong`);

test('what is one thing is one line', () => {
  expect(reasonOf([held([]), held([])])).toEqual({ reason: 'seen 2 times' });
  expect(reasonOf([broken('answered 500', [])])).toEqual({ reason: 'answered 500' });
  expect(reasonOf([broken('no toolset', [], { faults: faults(1) })])).toEqual({
    reason: 'no toolset: $.tools[0]: is wrong',
  });
});

test('of many faults a sentence has the first three, and where there is room each has a line of its own', () => {
  const { reason, reasonLines } = reasonOf([
    broken('no toolset', [], { faults: faults(12) }),
    broken('no toolset', [], { faults: faults(2) }),
  ]);
  expect(reason).toBe(
    'no toolset: $.tools[0]: is wrong; $.tools[1]: is wrong; $.tools[2]: is wrong; and 9 more',
  );
  expect(reasonLines).toEqual(['no toolset:', ...faults(10).map(fault => `  ${fault}`), '  and 2 more']);
});

test('so it is with many kinds', () => {
  const many = ['a', 'b', 'c', 'd', 'e'].map(what => broken(what, []));
  expect(reasonOf(many)).toEqual({
    reason: 'a; b; c; and 2 more',
    reasonLines: ['a', 'b', 'c', 'and 2 more'],
  });
});

test('a person reads them one below the other', () => {
  const row = {
    id: 'TOOL-DISCOVER',
    side: 'tool',
    level: 'MUST',
    status: 'fail',
    standing: 'failed',
    events: [],
    ...reasonOf([broken('no toolset', [], { faults: faults(2) })]),
  } as const;
  const lines = rowLines(row, { events: [], redactor: callbackSecrets() });
  expect(plainText(lines).split('\n').slice(1, 4)).toEqual([
    '    no toolset:',
    '      $.tools[0]: is wrong',
    '      $.tools[1]: is wrong',
  ]);
});
