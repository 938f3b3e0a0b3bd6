import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parsePatch } from '../../src/segments/diff.js';
import { blocksOf } from '../../src/segments/diff-blocks.js';
import type { Hunk, RowKind } from '../../src/segments/hunks.js';
import { patchOf } from '../../src/util/patch-of.js';
import { anyCodePoint } from '../support/characters.js';
import { expectCpuBelow } from '../support/cpu-ms.js';

/** A row with all that is known of it; a number is null where its side has no such line. */
interface Row {
  readonly kind: RowKind | undefined;
  readonly oldNo: number | null;
  readonly newNo: number | null;
  readonly text: string;
  readonly endsWithoutNewline: boolean;
}

/** The rows of a hunk as plain values. */
function rowsOf(hunk: Hunk): Row[] {
  return [...blocksOf(hunk)].flatMap(block =>
    Array.from({ length: block.to - block.from }, (_, at) => {
      const index = block.from + at;
      const kind = hunk.rows.kindAt(index);
      const isAdded = block.kind === 'changed' && index >= block.middle;
      const newNo = block.newNo + (isAdded ? index - block.middle : at);
      return {
        kind,
        oldNo: kind === 'added' ? null : block.oldNo + at,
        newNo: kind === 'removed' ? null : newNo,
        text: hunk.rows.textAt(index),
        endsWithoutNewline: hunk.rows.endsWithoutNewline(index),
      };
    }),
  );
}

/** The example of seed 000: its header says 3 and 4 lines, it has 2 and 3. */
const SEED = '--- src/main.rs\n+++ src/main.rs\n@@ -1,3 +1,4 @@\n fn main() {\n+ println!("hello");\n }';
const HEAD = '--- a/x\n+++ b/x\n';

function parsed(patch: string) {
  const result = parsePatch(patch);
  if (!result.ok) throw new Error(result.reason);
  return result;
}

/** The rows of its only hunk, or of its first. */
function rowsIn(patch: string) {
  const hunk = parsed(patch).diff.files[0]?.hunks[0];
  return hunk ? rowsOf(hunk) : [];
}

function reasonOf(patch: string): string {
  const result = parsePatch(patch);
  return result.ok ? 'not refused' : result.reason;
}

describe('line ends', () => {
  const BODY = '@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n';
  const crlf = (text: string) => text.replaceAll('\n', '\r\n');

  test.each([
    ['of the file', HEAD + crlf(BODY), true],
    ['of the whole patch', crlf(HEAD + BODY), true],
    ['with a last row without a line feed', `${HEAD}${crlf(BODY)}\\ No newline at end of file\n`, true],
    ['in one row only', HEAD + BODY.replace('zwei', 'zwei\r'), false],
    ['in no row', HEAD + BODY, false],
    ['where the only row has no line feed', `${HEAD}@@ -0,0 +1 @@\n+a\n\\ No newline\n`, false],
  ])('CR LF %s', (_, patch, isCrlf) => {
    const [file] = parsed(patch).diff.files;
    expect(file).toMatchObject({ newPath: 'x', isCrlf });
    const hasReturn = (file?.hunks ?? []).some(hunk => rowsOf(hunk).some(({ text }) => text.endsWith('\r')));
    expect(hasReturn).toBe(!isCrlf && patch.includes('\r'));
    expect(file?.hidden.count).toBe(!isCrlf && patch.includes('\r') ? 1 : 0);
  });
});

describe('valid patches', () => {
  test("corrects the counts of the seed's example", () => {
    const { recounted, diff } = parsed(SEED);
    expect(recounted).toEqual(['hunk 1: says −3 +4 lines, has −2 +3']);
    expect(diff).toMatchObject({
      files: [
        {
          oldPath: 'src/main.rs',
          newPath: 'src/main.rs',
          kind: 'changed',
          added: 1,
          removed: 0,
          isCrlf: false,
          hidden: { count: 0, replacements: [] },
          hunks: [{ oldStart: 1, oldCount: 2, newStart: 1, newCount: 3, section: '' }],
        },
      ],
    });
    expect(rowsIn(SEED)).toEqual([
      { kind: 'context', oldNo: 1, newNo: 1, text: 'fn main() {', endsWithoutNewline: false },
      { kind: 'added', oldNo: null, newNo: 2, text: ' println!("hello");', endsWithoutNewline: false },
      { kind: 'context', oldNo: 2, newNo: 3, text: '}', endsWithoutNewline: false },
    ]);
  });

  test('attaches the mark of a missing newline to its row', () => {
    expect(rowsIn(`${HEAD}@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n`)).toEqual([
      { kind: 'removed', oldNo: 1, newNo: null, text: 'a', endsWithoutNewline: true },
      { kind: 'added', oldNo: null, newNo: 1, text: 'b', endsWithoutNewline: false },
    ]);
  });

  test('reads removed lines that look like a header or a signature as rows if the counts include them', () => {
    const patch = `${HEAD}@@ -1,3 +1 @@\n--- comment\n-- \n-c\n+++ d\n`;
    expect(parsed(patch).recounted).toEqual([]);
    expect(rowsIn(patch).map(row => row.text)).toEqual(['-- comment', '- ', 'c', '++ d']);
  });

  test('does not read the next file as rows if a count is wrong', () => {
    const two = '--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -5 +5 @@\n-c\n+d\n';
    const { diff, recounted } = parsed(two);
    expect(diff.files.map(file => [file.newPath, file.added, file.removed])).toEqual([
      ['x', 1, 1],
      ['y', 1, 1],
    ]);
    expect(recounted).toEqual(['hunk 1: says −2 +2 lines, has −1 +1']);
  });

  test('accepts empty context lines whose space was stripped', () => {
    expect(rowsIn(`${HEAD}@@ -1,3 +1,3 @@\n-a\n+b\n\n c\n`)).toHaveLength(4);
    expect(parsed(`${HEAD}@@ -1,9 +1,9 @@\n-a\n+b\n\n c\n\n\n`).recounted).toEqual([
      'hunk 1: says −9 +9 lines, has −3 +3',
    ]);
  });

  test.each([
    ['a/x', 'b/x', 'x', 'x'],
    ['a/x', 'a/x', 'a/x', 'a/x'],
    ['/dev/null', 'b/x', 'x', 'x'],
    ['x.orig\t2026-01-01', 'x\t2026-01-02', 'x.orig', 'x'],
  ])('finds the paths of %j and %j', (oldName, newName, oldPath, newPath) => {
    const { diff } = parsed(`--- ${oldName}\n+++ ${newName}\n@@ -1 +1 @@\n-a\n+b\n`);
    expect(diff.files[0]).toMatchObject({ oldPath, newPath });
  });

  test.each([
    [
      'files without hunks before and after',
      'diff --git a/w b/v\nsimilarity index 100%\nrename from w\nrename to v\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\ndiff --git a/y b/y\nold mode 100644\nnew mode 100755\n',
      [
        ['v', 0],
        ['x', 1],
        ['y', 0],
      ],
    ],
    [
      'headers between its hunks that begin no file',
      `${HEAD}@@ -1 +1 @@\n-a\n+b\n\ndiff -u x x\nindex 1..2\n@@ -9 +9 @@\n-c\n+d\n`,
      [['x', 2]],
    ],
  ])('a file has its own hunks: %s', (_, patch, files) => {
    expect(parsed(patch).diff.files.map(({ newPath, hunks }) => [newPath, hunks.length])).toEqual(files);
  });

  test('uses the given path for a patch without file headers', () => {
    const result = parsePatch('@@ -1 +1 @@\n-a\n+b\n', 'src/x');
    expect(result.ok && result.diff.files[0]?.newPath).toBe('src/x');
  });

  test.each([
    [
      'created',
      'diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n',
    ],
    ['deleted', '--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n'],
    ['renamed', 'diff --git a/w b/x\nsimilarity index 100%\nrename from w\nrename to x\n'],
    ['copied', 'diff --git a/w b/x\nsimilarity index 100%\ncopy from w\ncopy to x\n'],
    ['mode', 'diff --git a/x b/x\nold mode 100644\nnew mode 100755\n'],
    ['binary', 'diff --git a/x b/x\nindex 1..2 100644\nBinary files a/x and b/x differ\n'],
    ['changed', 'Index: x\n===================\n--- x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n'],
  ])('recognizes a file that was %s', (kind, patch) => {
    const [file] = parsed(patch).diff.files;
    expect(file).toMatchObject({ kind, newPath: 'x' });
  });
});

test.each([
  '',
  '\n',
  HEAD,
  'Index: x\n===================\n--- x\n+++ x\n',
  patchOf('x', 'the same\n', 'the same\n'),
  patchOf('x', '', ''),
])('a patch without hunks changes nothing: %j', patch => {
  const result = parsePatch(patch, 'x');
  expect(result.ok && result.diff.files).toMatchObject([
    { kind: 'unchanged', hunks: [], added: 0, removed: 0 },
  ]);
});

describe('invalid patches and the reasons', () => {
  test.each([
    ['Replaced 3 lines.', 'line 1: "Replaced 3 lines." is not part of a unified diff'],
    [`\uFEFF${SEED}`, 'line 1: "<U+FEFF>--- src/main.rs" is not part of a unified diff'],
    ['--- a/x\n@@ -1 +1 @@\n-a\n+b', 'Missing "+++ ..." file header for a/x'],
    ['+++ b/x\n@@ -1 +1 @@\n-a\n+b', 'Missing "--- ..." file header for b/x'],
    [`${HEAD}@@\n-a\n+b`, 'line 3: "@@" is not a hunk header; expected "@@ -1,3 +1,4 @@"'],
    [`${HEAD}@@ foo @@\n-a`, 'line 3: "@@ foo @@" is not a hunk header; expected "@@ -1,3 +1,4 @@"'],
    [
      `${HEAD}@@ -${'9'.repeat(20)} +1 @@\n-a`,
      `line 3: "@@ -${'9'.repeat(20)} +1 @@" is not a hunk header; expected "@@ -1,3 +1,4 @@"`,
    ],
    [
      `${HEAD}@@@ -1 -1 +1 @@@\n- a\n`,
      'line 3: "@@@ -1 -1 +1 @@@" is a combined diff of a merge; diff against a single parent',
    ],
    [`${HEAD}@@ -1,2 +1,2 @@\n a\nb\n`, 'line 5: "b" does not start with " ", "+", "-" or "\\"'],
    [`${HEAD}@@ -1 +1 @@\n\\ No newline\n-a\n`, 'line 4: "\\ No newline" has no line before it'],
    [`${HEAD}@@ -1 +1 @@\n-a\n+b\n-- \n2.39.0\n`, 'line 6: a mail\'s signature ("-- ") follows the diff'],
    [`${HEAD}@@ -1 +1 @@\n`, 'hunk 1 has no lines'],
    [
      'diff --git a/x b/x\nGIT binary patch\nliteral 1\nIcmZ',
      'line 2: binary patches cannot be shown; create the diff without --binary',
    ],
    ['\u001b[2Jboo', 'line 1: "␛[2Jboo" is not part of a unified diff'],
  ])('%j', (patch, reason) => {
    expect(reasonOf(patch)).toBe(reason);
  });
});

describe('hostile input', () => {
  test('limits the number of lines', () => {
    expect(reasonOf('\n'.repeat(600_000))).toBe('has more than 500000 lines');
  });

  const piece = fc.constantFrom(
    '--- a\n',
    '+++ b\n',
    '@@ -1 +1 @@\n',
    '@@ -0,0 +1,9 @@ f\n',
    '-a\n',
    '+b\n',
    ' c\n',
    '\n',
    '\\ No\n',
    '-- \n',
    'x',
    'diff --git a/x b/x\n',
    'diff --git "a/\\1',
    'rename from x\n',
    '\r',
    '\u2028',
  );
  const patches = fc.array(piece).map(pieces => pieces.join(''));

  test('never throws, and the reason is safe to print', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: anyCodePoint }), patches), patch => {
        expect(reasonOf(patch)).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      }),
      { numRuns: 800 },
    );
  });

  test('every row is from the patch, and the counts match the rows', () => {
    fc.assert(
      fc.property(patches, patch => {
        const result = parsePatch(`${HEAD}@@ -1,2 +1,2 @@\n-a\n+b\n${patch}`);
        const written = new Set(patch.split('\n').map(line => line.slice(1))).add('a').add('b');
        const hunks: readonly Hunk[] = result.ok ? result.diff.files.flatMap(file => file.hunks) : [];
        for (const hunk of hunks) {
          const rows = rowsOf(hunk);
          expect(rows.filter(row => row.kind !== 'added')).toHaveLength(hunk.oldCount);
          expect(rows.filter(row => row.kind !== 'removed')).toHaveLength(hunk.newCount);
          for (const row of rows) expect(written).toContain(row.text);
        }
      }),
      { numRuns: 800 },
    );
  });

  test.each([
    ['many rows', `${HEAD}@@ -1,5 +1,5 @@\n${'-a\n+b\n'.repeat(50_000)}`],
    ['one line of 10 MB', `${HEAD}@@ -1 +1 @@\n-${'x'.repeat(10_000_000)}\n+b\n`],
    ['a header of 10 MB', `@@ -${'1'.repeat(10_000_000)} +1 @@`],
    ['blank lines', `${HEAD}@@ -1,9 +1,9 @@\n-a\n${'\n'.repeat(400_000)}`],
  ])('parses %s in less than 2 s', async (_, patch) => {
    await expectCpuBelow(2_000, () => parsePatch(patch));
  });
});

test('counts hidden characters per file: in its name, its sections and its rows', () => {
  const file = (name: string, section: string, row: string) =>
    `--- ${name}\n+++ ${name}\n@@ -1 +1 @@ ${section}\n-a\n+${row}\n`;
  const parsed = parsePatch(file('x\u200b', 'f\u202e', 'b\u001b') + file('y', 'f', 'b'));
  expect(parsed.ok && parsed.diff.files.map(({ hidden }) => hidden.count)).toEqual([3, 0]);
});
