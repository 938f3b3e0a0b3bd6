import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Hunk, RowKind, Rows } from '../../../src/display/diff-model.js';
import { type Block, blocksOf, type Changed, partnerOf } from '../../../src/display/diff-model.js';

const KINDS: Readonly<Record<string, RowKind>> = { '-': 'removed', '+': 'added', ' ': 'context' };

/** A hunk with these signs, whose rows say nothing. */
function hunkOf(signs: string, start = 10): Hunk {
  const count = (without: string) => signs.replaceAll(without, '').length;
  const rows: Rows = {
    length: signs.length,
    kindAt: index => KINDS[signs.charAt(index)],
    textAt: () => '',
    endsWithoutNewline: () => false,
  };
  return {
    oldStart: start,
    oldCount: count('+'),
    newStart: start,
    newCount: count('-'),
    section: '',
    rows,
  };
}

const pairsOf = (signs: string) =>
  [...blocksOf(hunkOf(signs))]
    .filter((block): block is Changed => block.kind === 'changed')
    .flatMap(block =>
      Array.from({ length: block.to - block.from }, (_, at) => [block, block.from + at] as const),
    )
    .flatMap(([block, row]) => {
      const partner = partnerOf(block, row);
      return partner === undefined ? [] : [`${row}-${partner}`];
    });

test.each([
  ['-+', ['0-1', '1-0']],
  ['--+', ['0-2', '2-0']],
  ['-++', ['0-1', '1-0']],
  ['--++', ['0-2', '1-3', '2-0', '3-1']],
  ['- +', []],
  ['+-', []],
  ['-+-+', ['0-1', '1-0', '2-3', '3-2']],
])('the pairs of %j', (signs, pairs) => {
  expect(pairsOf(signs)).toEqual(pairs);
});

test('a block knows the lines that it begins on', () => {
  expect([...blocksOf(hunkOf(' -++ '))]).toEqual([
    { kind: 'unchanged', from: 0, to: 1, oldNo: 10, newNo: 10 },
    { kind: 'changed', from: 1, middle: 2, to: 4, oldNo: 11, newNo: 11 },
    { kind: 'unchanged', from: 4, to: 5, oldNo: 12, newNo: 13 },
  ]);
});

test('a created file begins with line 1', () => {
  expect([...blocksOf({ ...hunkOf('++', 0), newStart: 1 })]).toMatchObject([{ oldNo: 1, newNo: 1 }]);
});

describe('whatever the rows', () => {
  const signs = fc.string({ unit: fc.constantFrom('-', '+', ' '), maxLength: 40 });
  const kindsOf = (block: Block) =>
    block.kind === 'unchanged'
      ? ' '.repeat(block.to - block.from)
      : '-'.repeat(block.middle - block.from) + '+'.repeat(block.to - block.middle);

  test('blocks are all of them, in order', () => {
    fc.assert(
      fc.property(signs, text => {
        expect([...blocksOf(hunkOf(text))].map(kindsOf).join('')).toBe(text);
      }),
    );
  });

  test('a pair is one both ways, of a removed row and an added one', () => {
    fc.assert(
      fc.property(signs, text => {
        const pairs = pairsOf(text);
        for (const pair of pairs) {
          const [row = '', partner = ''] = pair.split('-');
          expect(pairs).toContain(`${partner}-${row}`);
          expect(text.charAt(Number(row))).not.toBe(text.charAt(Number(partner)));
        }
      }),
    );
  });
});
