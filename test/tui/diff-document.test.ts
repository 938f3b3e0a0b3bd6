import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Line } from '../../src/render/line.js';
import { wholeDrawing } from '../../src/render/panes.js';
import { diffDocument } from '../../src/tui/reading/diff-document.js';
import { words } from '../support/words.js';
import { diffOf, PLAIN } from './texts.js';

const row = fc.tuple(
  fc.constantFrom(' ', ' ', ' ', '+', '-'),
  fc.constantFrom('vv', 'vw', 'ww', 'wv vw', ''),
);
const hunk = fc.array(row, { minLength: 1, maxLength: 60 });
const file = fc.array(hunk, { minLength: 1, maxLength: 4 });

/** Hunks far enough from each other, so that lines stand between them. */
const patches = fc
  .array(file, { minLength: 1, maxLength: 3 })
  .map(files =>
    files.map((hunks, index) => `--- f${index}\n+++ f${index}\n${hunks.map(hunkText).join('')}`).join(''),
  );

function hunkText(rows: readonly (readonly [string, string])[], place: number): string {
  const count = (sign: string) => rows.filter(([own]) => own === ' ' || own === sign).length;
  const start = 1 + place * 100;
  const head = `@@ -${start},${count('-')} +${start},${count('+')} @@ zz\n`;
  return head + rows.map(([sign, text]) => `${sign}${text}\n`).join('');
}

const looks = fc.record({ isSplit: fc.boolean(), isUnfolded: fc.boolean(), highlighter: fc.constant(null) });
const linesOf = (document: ReturnType<typeof diffDocument>) =>
  Array.from({ length: document.length }, (_, index) => document.line(index));

describe('a diff', () => {
  test('has the same lines as the whole drawing, in every layout', () => {
    fc.assert(
      fc.property(patches, looks, (patch, look) => {
        const diff = diffOf(patch);
        const whole: Line[] = [
          ...wholeDrawing(
            { kind: 'diff', path: '', raw: '', diff },
            { ...look, width: look.isSplit ? 120 : 80 },
          ),
        ];
        expect(linesOf(diffDocument(diff, look))).toEqual(whole);
      }),
      { numRuns: 50 },
    );
  });

  const TWO_FILES =
    '--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@ here\n-c\n+d\n--- y\n+++ y\n@@ -1 +1 @@\n-a\n+b\n';

  test('knows the first lines of files and hunks', () => {
    const document = diffDocument(diffOf(TWO_FILES), PLAIN);
    const titles = (kind: 'hunk' | 'file') =>
      Array.from(document.landmarks(kind), line => `${line} ${words(document.line(line))}`);
    expect(titles('file')).toEqual(['1 x +2 −2', '9 y +1 −1']);
    expect(titles('hunk')).toEqual([
      '2 hunk 1/2 @@ -1,1 +1,1 @@',
      '6 hunk 2/2 @@ -9,1 +9,1 @@ here',
      '10 @@ -1,1 +1,1 @@',
    ]);
  });

  test('knows the headers of a line', () => {
    const document = diffDocument(diffOf(TWO_FILES), PLAIN);
    const headers = (line: number) => document.headersAt(line).map(words);
    expect([0, 1, 2, 5].map(headers)).toEqual([[], [], ['x +2 −2'], ['x +2 −2']]);
    expect(headers(7)).toEqual(['x +2 −2', 'hunk 2/2 @@ -9,1 +9,1 @@ here']);
  });
});

describe('a position', () => {
  test('is found again in the same layout', () => {
    fc.assert(
      fc.property(patches, looks, (patch, look) => {
        const document = diffDocument(diffOf(patch), look);
        for (let line = 0; line < document.length; line++)
          expect(document.lineAt(document.anchorAt(line))).toBe(line);
      }),
    );
  });

  test('is the same line of the file in another layout, or the fold that hides it', () => {
    fc.assert(
      fc.property(patches, looks, looks, (patch, look, other) => {
        const diff = diffOf(patch);
        const [one, two] = [diffDocument(diff, look), diffDocument(diff, other)];
        for (let line = 0; line < one.length; line++) {
          const [before, after] = [one.line(line), two.line(two.lineAt(one.anchorAt(line)))];
          const [number] = numbersIn(before);
          if (number !== undefined && !isFold(after)) expect(numbersIn(after)).toContain(number);
        }
      }),
      { numRuns: 50 },
    );
  });
});

/** Of lines, in the gutter; our own rows have none. */
function numbersIn(line: Line): readonly string[] {
  return line.filter(({ tone }) => tone === 'gutter').flatMap(({ text }) => text.match(/\d+/g) ?? []);
}

function isFold(line: Line): boolean {
  return words(line).startsWith('⋯');
}

describe('find', () => {
  test('finds the same as a search through the drawn text', () => {
    const wanteds = fc.constantFrom('v', 'wv', 'v v', 'zz', 'f1');
    fc.assert(
      fc.property(patches, looks, wanteds, fc.nat(), (patch, look, wanted, at) => {
        const document = diffDocument(diffOf(patch), look);
        const lines = linesOf(document).map(words);
        const from = at % lines.length;
        const down = lines.findIndex((line, index) => index >= from && line.includes(wanted));
        expect(document.find(new RegExp(wanted, 'iu'), from, 1)).toBe(down < 0 ? null : down);
        const up = lines.findLastIndex((line, index) => index <= from && line.includes(wanted));
        expect(document.find(new RegExp(wanted, 'iu'), from, -1)).toBe(up < 0 ? null : up);
      }),
    );
  });

  test.each(['hunk', '@@', '\\+', '1', 'newline', 'more'])('finds nothing in our own words: %s', wanted => {
    const long = 'x'.repeat(5_000);
    const document = diffDocument(
      diffOf(
        `--- x\n+++ x\n@@ -1 +1 @@\n-a\n+${long}${wanted}\n@@ -9 +9 @@\n-c\n+d\n\\ No newline at end of file\n--- y\n+++ y\n@@ -1 +1 @@\n-a\n+b\n`,
      ),
      PLAIN,
    );
    expect(document.find(new RegExp(wanted, 'iu'), 0, 1)).toBeNull();
  });
});
