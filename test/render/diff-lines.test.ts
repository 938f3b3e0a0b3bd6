import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePatch } from '../../src/display/diff.js';
import type { Diff, Rows } from '../../src/display/diff-model.js';
import type { Line } from '../../src/render/line.js';
import { diffLines, wholeDrawing } from '../../src/render/pane-lines.js';
import { anyCodePoint } from '../support/characters.js';
import { words } from '../support/words.js';

function diffOf(patch: string) {
  const result = parsePatch(patch);
  if (!result.ok) throw new Error(result.reason);
  return result.diff;
}

const ALL = { count: Number.POSITIVE_INFINITY };
const WIDE = { ...ALL, width: 120 };
const HEAD = '--- x\n+++ x\n';
const textOf = (patch: string, layout = {}) =>
  diffLines(diffOf(patch), { ...ALL, ...layout }).lines.map(words);
const unchanged = (count: number) => Array.from({ length: count }, (_, index) => ` ${index + 1}\n`).join('');

describe('unchanged lines', () => {
  const patchOf = (count: number) => `${HEAD}@@ -1,99 +1,99 @@\n-a\n${unchanged(count)}+b\n`;
  const insideOf = (lines: readonly string[]) => lines.slice(3, -1).map(line => line.split(' ').at(-1));

  test('up to seven are all shown', () => {
    expect(insideOf(textOf(patchOf(7)))).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  });

  test('of more, three stay on either side', () => {
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

  test('all are there when they are asked for', () => {
    expect(insideOf(textOf(patchOf(18), { isUnfolded: true }))).toHaveLength(18);
  });
});

describe('side by side', () => {
  const patch = `${HEAD}@@ -9,4 +9,5 @@ f\n a\n-b\n-c\n+d\n+e\n+f\n g\n\\ No newline at end of file\n`;

  test('from 120 cells on: the i-th removed row beside the i-th added one, what has no partner beside nothing', () => {
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

  test('under that one below the other', () => {
    expect(textOf(patch, { width: 119 })).toEqual(textOf(patch));
  });

  test('an added row before a removed one is not one in its place', () => {
    expect(textOf(`${HEAD}@@ -1 +1 @@\n+a\n-b\n`, { width: 120 }).slice(2)).toEqual([' │ 1 + a', '1 - b │ ']);
  });

  test('has every row once on its side', () => {
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

describe('the window', () => {
  const body = fc
    .array(
      fc.constantFrom(
        '-a\n',
        '+b\n',
        ' c\n',
        unchanged(9),
        '-a b\n\\ No newline at end of file\n',
        '+a \u202e\n',
      ),
      { minLength: 1, maxLength: 15 },
    )
    .map(rows => `@@ -1,99 +1,99 @@ f\n${rows.join('')}`);
  const file = fc
    .array(body, { minLength: 1, maxLength: 3 })
    .map(hunks => `--- a/x\n+++ b/x\n${hunks.join('')}`);
  const patches = fc.array(file, { minLength: 1, maxLength: 3 }).map(files => files.join(''));
  const layouts = fc.record({ width: fc.constantFrom(80, 120), isUnfolded: fc.boolean() });

  test('is a slice of the whole, below the headers that it stands under', () => {
    fc.assert(
      fc.property(patches, fc.nat(80), fc.nat(60), layouts, (patch, from, count, layout) => {
        const diff = diffOf(patch);
        const whole = [...wholeDrawing({ kind: 'diff', path: '', raw: '', diff }, layout)];
        const { lines, sticky = 0, total } = diffLines(diff, { from, count, ...layout });
        expect(total).toBe(whole.length);
        expect(lines.slice(sticky)).toEqual(whole.slice(from, from + count - sticky));
        const above = whole.slice(0, from);
        for (const header of lines.slice(0, sticky)) expect(above).toContainEqual(header);
      }),
    );
  });

  test.each([
    [0, 4, ['x +2 −2', 'hunk 1/2 @@ -1,1 +1,1 @@', '1   - a', '  1 + b']],
    [1, 3, ['x +2 −2', 'hunk 1/2 @@ -1,1 +1,1 @@', '1   - a']],
    [3, 3, ['x +2 −2', 'hunk 1/2 @@ -1,1 +1,1 @@', '  1 + b']],
    [4, 3, ['x +2 −2', '⋯ 7 unchanged lines', 'hunk 2/2 @@ -9,1 +9,1 @@']],
    [7, 9, ['x +2 −2', 'hunk 2/2 @@ -9,1 +9,1 @@', '  9 + d']],
    [7, 2, ['  9 + d']],
  ])('from line %d on, %d lines', (from, count, expected) => {
    const diff = diffOf(`${HEAD}@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n`);
    expect(diffLines(diff, { from, count }).lines.map(words)).toEqual(expected);
  });

  test.each([
    ['one hunk', `@@ -1,50000 +1,50000 @@\n${'-a b\n'.repeat(50_000)}${'+a c\n'.repeat(50_000)}`],
    ['many blocks', `@@ -1,50000 +1,50000 @@\n${'-a b\n+a c\n'.repeat(50_000)}`],
    ['many hunks', '@@ -1 +1 @@\n-a b\n+a c\n'.repeat(33_000)],
  ])('reads only the rows that are asked for, however many there are: %s', (_, hunks) => {
    const { diff, read } = watched(diffOf(`${HEAD}${hunks}`));
    for (const width of [80, 160]) {
      const { lines } = diffLines(diff, { from: 40_000, count: 40, width });
      expect(lines).toHaveLength(40);
    }
    expect(read().size).toBeLessThanOrEqual(4 * 40);
    expect(read().size).toBeGreaterThan(40);
  });
});

/** The same diff, and which of its rows someone has read. */
function watched(diff: Diff): { readonly diff: Diff; readonly read: () => ReadonlySet<string> } {
  const seen = new Set<string>();
  const watch = (rows: Rows, hunk: string): Rows => ({
    length: rows.length,
    kindAt: index => rows.kindAt(index),
    endsWithoutNewline: index => rows.endsWithoutNewline(index),
    textAt(index) {
      seen.add(`${hunk}:${index}`);
      return rows.textAt(index);
    },
  });
  const files = diff.files.map(file => ({
    ...file,
    hunks: file.hunks.map((hunk, index) => ({ ...hunk, rows: watch(hunk.rows, String(index)) })),
  }));
  return { diff: { ...diff, files }, read: () => seen };
}

test('no foreign character acts', () => {
  const foreign = fc.string({ unit: anyCodePoint, maxLength: 40 }).map(text => text.replaceAll('\n', ''));
  fc.assert(
    fc.property(foreign, foreign, foreign, (path, removed, added) => {
      const result = parsePatch(`@@ -1 +1 @@ ${path}\n-${removed}\n+${added}\n`, path);
      const lines: readonly Line[] = result.ok ? diffLines(result.diff, WIDE).lines : [];
      expect(result.ok).toBe(true);
      for (const { text } of lines.flat()) expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    }),
  );
});
