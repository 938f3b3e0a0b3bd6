import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePatch } from '../../src/display/diff/parse.js';
import { diffLines } from '../../src/story/diff-lines.js';
import type { Line } from '../../src/story/line.js';

function diffOf(patch: string) {
  const result = parsePatch(patch);
  if (!result.ok) throw new Error(result.reason);
  return result.diff;
}

const ALL = { count: Number.POSITIVE_INFINITY };
const textOf = (line: Line) => line.map(span => span.text).join('');
const linesOf = (patch: string) => diffLines(diffOf(patch), ALL).lines;
const rowsOf = (removed: string, added: string) =>
  linesOf(`--- x\n+++ x\n@@ -1 +1 @@\n-${removed}\n+${added}\n`);

describe('the layout', () => {
  test('the example of seed 000', () => {
    const patch = '--- src/main.rs\n+++ src/main.rs\n@@ -1,3 +1,4 @@\n fn main() {\n+ println!("hello");\n }';
    expect(linesOf(patch).map(textOf)).toEqual([
      'src/main.rs +1 −0',
      '@@ -1,2 +1,3 @@',
      '1 1   fn main() {',
      '  2 +  println!("hello");',
      '2 3   }',
    ]);
  });

  test('names, modes, sections, the missing newline', () => {
    const patch =
      'diff --git a/old b/new\nold mode 100644\nnew mode 100755\nrename from old\nrename to new\n' +
      '--- a/old\n+++ b/new\n@@ -9,2 +9 @@ class A\n-a\n b\n\\ No newline at end of file\n';
    expect(linesOf(patch).map(textOf)).toEqual([
      'old → new (renamed, mode 100644 → 100755) +0 −1',
      '@@ -9,2 +9,1 @@ class A',
      ' 9    - a',
      '10  9   b',
      '\\ No newline at end of file',
    ]);
  });

  test('the gutter, the sign and the text have their tones', () => {
    expect(rowsOf('let total = a;', 'let total = b;')[2]).toEqual([
      { text: '1   ', tone: 'gutter' },
      { text: '-', tone: 'removed' },
      { text: ' ', tone: 'gutter' },
      { text: 'let total = ', tone: 'removed' },
      { text: 'a', tone: 'removed-word' },
      { text: ';', tone: 'removed' },
    ]);
  });

  test('hidden characters inside a changed word are told apart', () => {
    expect(rowsOf('let total = a;', 'let total = \u202Eb;')[3]?.slice(3)).toEqual([
      { text: 'let total = ', tone: 'added' },
      { text: '<U+202E>', tone: 'hidden' },
      { text: 'b', tone: 'added-word' },
      { text: ';', tone: 'added' },
    ]);
  });

  test('tab stops run through the marks', () => {
    expect(textOf(rowsOf('ab cd\tx', 'ab ce\tx')[3] ?? [])).toBe('  1 + ab ce   x');
  });

  test('an endless row is cut, and says so', () => {
    const line = rowsOf('a', 'x'.repeat(1_000_000))[3] ?? [];
    expect(line.at(-1)).toEqual({ text: ' … 996000 more characters', tone: 'dim' });
  });
});

describe('the window', () => {
  const body = fc
    .array(fc.constantFrom('-a\n', '+b\n', ' c\n', '-a b\n\\ No newline at end of file\n', '+a c\n'), {
      minLength: 1,
      maxLength: 15,
    })
    .map(rows => `@@ -1,99 +1,99 @@ f\n${rows.join('')}`);
  const file = fc
    .array(body, { minLength: 1, maxLength: 3 })
    .map(hunks => `--- a/x\n+++ b/x\n${hunks.join('')}`);
  const patches = fc.array(file, { minLength: 1, maxLength: 3 }).map(files => files.join(''));

  test('is a slice of the whole', () => {
    fc.assert(
      fc.property(patches, fc.nat(60), fc.nat(60), (patch, from, count) => {
        const diff = diffOf(patch);
        const whole = diffLines(diff, ALL);
        expect(diffLines(diff, { from, count })).toEqual({
          lines: whole.lines.slice(from, from + count),
          total: whole.lines.length,
        });
      }),
    );
  });

  test('costs what is asked for, not what there is', () => {
    const diff = diffOf(
      `--- x\n+++ x\n@@ -1,50000 +1,50000 @@\n${'-a b\n'.repeat(50_000)}${'+a c\n'.repeat(50_000)}`,
    );
    const start = performance.now();
    for (let i = 0; i < 20; i++) diffLines(diff, { from: 49_990, count: 40 });
    expect((performance.now() - start) / 20).toBeLessThan(50);
  });
});

test('no foreign character acts', () => {
  const foreign = fc.string({ unit: 'binary' }).map(text => text.replaceAll('\n', ''));
  fc.assert(
    fc.property(foreign, foreign, foreign, (path, removed, added) => {
      const result = parsePatch(`@@ -1 +1 @@ ${path}\n-${removed}\n+${added}\n`, path);
      const lines = result.ok ? diffLines(result.diff, ALL).lines : [];
      expect(result.ok).toBe(true);
      for (const span of lines.flat()) expect(span.text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
    }),
  );
});
