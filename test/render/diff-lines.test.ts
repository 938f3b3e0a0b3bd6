import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wholeDrawing } from '../../src/render/panes.js';
import { parsePatch } from '../../src/segments/diff.js';
import { anyCodePoint } from '../support/characters.js';
import { words } from '../support/words.js';

function diffOf(patch: string) {
  const result = parsePatch(patch);
  if (!result.ok) throw new Error(result.reason);
  return result.diff;
}

const HEAD = '--- x\n+++ x\n';
const textOf = (patch: string, layout = {}) =>
  [...wholeDrawing({ kind: 'diff', path: '', raw: '', diff: diffOf(patch) }, layout)].map(words);
const unchanged = (count: number) => Array.from({ length: count }, (_, index) => ` ${index + 1}\n`).join('');

describe('unchanged lines', () => {
  const patchOf = (count: number) => `${HEAD}@@ -1,99 +1,99 @@\n-a\n${unchanged(count)}+b\n`;
  const insideOf = (lines: readonly string[]) => lines.slice(3, -1).map(line => line.split(' ').at(-1));

  test('shows up to seven', () => {
    expect(insideOf(textOf(patchOf(7)))).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  });

  test('folds more than seven, except three on each side', () => {
    expect(textOf(patchOf(18)).slice(3, -1)).toEqual([
      ' 2  1   1',
      ' 3  2   2',
      ' 4  3   3',
      '⋯ 12 unchanged lines',
      '17 16   16',
      '18 17   17',
      '19 18   18',
    ]);
  });

  test('shows all when unfolded', () => {
    expect(insideOf(textOf(patchOf(18), { isUnfolded: true }))).toHaveLength(18);
  });
});

test('says that a patch without hunks has no changes', () => {
  expect(textOf(HEAD)).toEqual(['x (no changes)']);
  expect(textOf('')).toEqual(['no changes']);
});

describe('side by side', () => {
  const patch = `${HEAD}@@ -9,4 +9,5 @@ f\n a\n-b\n-c\n+d\n+e\n+f\n g\n\\ No newline at end of file\n`;

  test('from 120 cells: pairs the i-th removed row with the i-th added row; a row without a partner stands alone', () => {
    expect(textOf(patch, { width: 120 })).toEqual([
      'x +3 −2',
      '@@ -9,4 +9,5 @@ f',
      ' 9   a │  9   a',
      '10 - b │ 10 + d',
      '11 - c │ 11 + e',
      ' │ 12 + f',
      '12   g \\ No newline at end of file │ 13   g \\ No newline at end of file',
    ]);
  });

  test('shows every row once on its side', () => {
    const rows = fc.array(fc.constantFrom('-', '+', ' '), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(rows, signs => {
        const body = signs.map((sign, index) => `${sign}row ${index}\n`).join('');
        const lines = textOf(`${HEAD}@@ -1,99 +1,99 @@\n${body}`, { width: 120, isUnfolded: true });
        const halves = lines.slice(2).map(line => line.split('│'));
        const side = (at: number) => halves.flatMap(half => half[at]?.match(/row \d+/)?.[0] ?? []);
        const expected = (without: string) =>
          signs.flatMap((sign, index) => (sign === without ? [] : [`row ${index}`]));
        expect(side(0)).toEqual(expected('+'));
        expect(side(1)).toEqual(expected('-'));
      }),
    );
  });
});

test('contains no raw control characters', () => {
  const foreign = fc.string({ unit: anyCodePoint, maxLength: 40 }).map(text => text.replaceAll('\n', ''));
  fc.assert(
    fc.property(foreign, foreign, foreign, (path, removed, added) => {
      const result = parsePatch(`@@ -1 +1 @@ ${path}\n-${removed}\n+${added}\n`, path);
      if (!result.ok) throw new Error(result.reason);
      const drawing = { kind: 'diff', path: '', raw: '', diff: result.diff } as const;
      for (const { text } of [...wholeDrawing(drawing, { width: 120 })].flat())
        expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    }),
  );
});
