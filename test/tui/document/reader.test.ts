import { describe, expect, test } from 'vitest';
import { quote, say } from '../../../src/render/line.js';
import { createTheme } from '../../../src/render/terminal/theme.js';
import {
  type Document,
  diffDocument,
  linesDocument,
  textDocument,
} from '../../../src/tui/document/documents.js';
import {
  DocumentView,
  FIRST_READING,
  lookOf,
  type Reading,
  type ReadingCommand,
} from '../../../src/tui/document/view.js';
import { diffOf, numbered, PLAIN, readAfter, viewOf } from './support.js';

const VIEWPORT = { width: 20, height: 4 };
const drawn = (document: Document, reading: Reading, viewport = VIEWPORT) =>
  viewOf(document, viewport).draw(reading);
/** With what is seen of it, but not whether that is all. */
const read = (document: Document, reading: Reading, viewport = VIEWPORT) => {
  const { rows, status } = drawn(document, reading, viewport);
  return { rows, status };
};
const UNWRAPPED = { ...FIRST_READING, isWrapped: false };

test('the first rows of a text, and where they are', () => {
  expect(read(textDocument(numbered(5_000)), FIRST_READING)).toEqual({
    rows: ['line 1', 'line 2', 'line 3', 'line 4'],
    status: '1–4 of 5,000',
  });
});

test.each<readonly [readonly ReadingCommand[], string]>([
  [['lineDown', 'lineDown', 'lineUp'], '2–5 of 10'],
  [['pageDown'], '3–6 of 10'],
  [['pageDown', 'pageDown', 'pageDown', 'pageDown'], '7–10 of 10'],
  [['bottom'], '7–10 of 10'],
  [['bottom', 'lineDown', 'pageUp'], '5–8 of 10'],
  [['bottom', 'top', 'lineUp'], '1–4 of 10'],
])('%j', (commands, status) => {
  const document = textDocument(numbered(10));
  expect(drawn(document, readAfter(document, VIEWPORT, commands)).status).toBe(status);
});

test('a line longer than the screen is read row by row', () => {
  const document = textDocument(`${'0123456789'.repeat(12)}\nend`);
  const reading = readAfter(document, VIEWPORT, ['lineDown', 'lineDown', 'lineDown', 'lineDown']);
  expect(reading).toMatchObject({ line: 0, row: 3 });
  expect(drawn(document, reading).rows.at(-1)).toBe('end');
});

test('what is gone is no longer read: another document, another screen', () => {
  const reading = readAfter(textDocument(numbered(5_000)), VIEWPORT, ['bottom']);
  expect(read(textDocument('a\nb'), reading)).toEqual({ rows: ['a', 'b'], status: '1–2 of 2' });
  expect(drawn(textDocument(numbered(6)), reading, { width: 5, height: 9 }).rows).toHaveLength(9);
  expect(read(linesDocument([]), reading)).toEqual({ rows: [], status: '' });
  expect(drawn(textDocument('a'), reading, { width: 4, height: 9 }).rows).toEqual([]);
});

describe('without wrapping', () => {
  const document = textDocument(`${'0123456789'.repeat(3)}\nshort`);

  test('what does not fit is scrolled to, no further than there is something', () => {
    expect(drawn(document, UNWRAPPED).rows).toEqual(['0123456789012345678…', 'short']);
    const right = readAfter(document, VIEWPORT, ['right', 'right', 'right', 'right'], UNWRAPPED);
    expect(right.left).toBe(16);
    expect(drawn(document, right).rows).toEqual(['67890123456789', '']);
    expect(readAfter(document, VIEWPORT, ['left', 'left', 'left'], right).left).toBe(0);
  });

  test('it is switched on and off', () => {
    const { isWrapped, left } = readAfter(document, VIEWPORT, ['right', 'wrap'], UNWRAPPED);
    expect([isWrapped, left]).toEqual([true, 0]);
    expect(readAfter(document, VIEWPORT, ['wrap']).isWrapped).toBe(false);
  });
});

describe('search', () => {
  const document = textDocument(numbered(50));
  const find = (words: string, reading = FIRST_READING) => viewOf(document, VIEWPORT).search(reading, words);
  const step = (reading: Reading, command: ReadingCommand) =>
    viewOf(document, VIEWPORT).step(reading, command);

  test('goes to the next match, which stands out without colour too', () => {
    const { reading, said } = find('line 4');
    expect(said).toBe('match 1 of 11 on line 4');
    expect(drawn(document, reading).rows[3]).toBe('\u001b[7mline 4\u001b[27m');
    expect(drawn(document, reading).status).toBe('1–4 of 50');
  });

  test('on and back, around the ends', () => {
    const first = find('5').reading;
    const told: (string | null)[] = [];
    const commands = ['nextMatch', 'previousMatch', 'previousMatch', 'nextMatch'] as const;
    commands.reduce((reading, command) => {
      const stepped = step(reading, command);
      told.push(stepped.said);
      return stepped.reading;
    }, first);
    expect(told).toEqual([
      'match 2 of 6 on line 15',
      'match 1 of 6 on line 5',
      'from the bottom again: match 6 of 6 on line 50',
      'from the top again: match 1 of 6 on line 5',
    ]);
  });

  test('a match that was out of sight has something above it', () => {
    expect(drawn(document, find('line 33').reading).rows[1]).toContain('line 33');
  });

  test('starts where one is', () => {
    expect(find('line', readAfter(document, VIEWPORT, ['bottom'])).said).toBe('match 47 of 50 on line 47');
  });

  test.each([
    ['LINE', 'not found: "LINE"'],
    ['Line', 'not found: "Line"'],
    ['.*', 'not found: ".*"'],
    ['\\', 'not found: "\\"'],
    ['x\u001b[2J', 'not found: "x␛[2J"'],
    ['line 7\nline 8', 'match 1 of 1 on line 7'],
    ['', null],
  ])('%j is plain text, and its capitals matter', (words, said) => {
    expect(find(words).said).toBe(said);
  });

  test('beyond those that are counted, the line says where one is', () => {
    const long = textDocument(numbered(5_000));
    const { reading } = viewOf(long, VIEWPORT).search(FIRST_READING, 'line');
    expect(viewOf(long, VIEWPORT).step(reading, 'previousMatch').said).toBe(
      'from the bottom again: match on line 5,000',
    );
  });

  test('a match far down a wrapped line, or far to the right, is brought into sight', () => {
    const long = textDocument(`a\n${'word '.repeat(60)}needle ${'word '.repeat(60)}`);
    for (const isWrapped of [true, false]) {
      const { reading } = viewOf(long, VIEWPORT).search({ ...FIRST_READING, isWrapped }, 'needle');
      expect(drawn(long, reading).rows.join('\n')).toContain('\u001b[7mneedle\u001b[27m');
    }
  });

  test('neither the gutter nor a hidden character is marked', () => {
    const line = [say('1 ', 'gutter'), ...quote('1\u200b200b')];
    const hidden = linesDocument([line]);
    const { rows } = drawn(hidden, viewOf(hidden, VIEWPORT).search(FIRST_READING, '1').reading);
    expect(rows).toEqual(['1 \u001b[7m1\u001b[27m<U+200B>200b']);
    expect(viewOf(hidden, VIEWPORT).search(FIRST_READING, '200b').said).toBe('match 1 of 1 on line 1');
    expect(viewOf(hidden, VIEWPORT).search(FIRST_READING, 'u+').said).toBe('not found: "u+"');
  });

  test('a match that goes over several pieces of code is marked whole, on its ground', () => {
    const changed = diffDocument(diffOf('--- x\n+++ x\n@@ -1 +1 @@\n-let a = 1;\n+let b = 1;\n'), PLAIN);
    const coloured = createTheme(2);
    const { reading } = new DocumentView(changed, VIEWPORT, coloured).search(FIRST_READING, 't b =');
    const row = new DocumentView(changed, VIEWPORT, coloured).draw(reading).rows[3] ?? '';
    const inverse = row
      .split('\u001b[7m')
      .slice(1)
      .map(piece => piece.split('\u001b[27m')[0]);
    expect(inverse.join('')).toBe('t b =');
  });
});

describe('hunks and files', () => {
  const hunk = (at: number) => `@@ -${at},3 +${at},3 @@\n a\n-b\n+c\n d\n`;
  const file = (name: string) => `--- ${name}\n+++ ${name}\n${hunk(1)}${hunk(11)}${hunk(21)}`;
  const document = diffDocument(diffOf(`${file('x')}${file('y')}`), PLAIN);
  const port = { width: 60, height: 6 };
  const seen = (reading: Reading) => viewOf(document, port).draw(reading);

  test('headers stay while what they are about is read', () => {
    const rows = (lines: number) =>
      seen(
        readAfter(
          document,
          port,
          Array.from({ length: lines }, () => 'lineDown' as const),
        ),
      ).rows.slice(0, 3);
    expect(rows(1)).toEqual(['x +3 −3', 'hunk 1/3 @@ -1,3 +1,3 @@', ' 1  1   a']);
    expect(rows(3)).toEqual(['x +3 −3', 'hunk 1/3 @@ -1,3 +1,3 @@', '    2 + c']);
  });

  test('each is gone to, and the status says which it is', () => {
    const commands = ['nextHunk', 'nextHunk', 'nextHunk', 'nextHunk'] as const;
    expect(
      commands.map((_, index) => seen(readAfter(document, port, commands.slice(0, index + 1))).status),
    ).toEqual([
      '2–7 of 37 · hunk 1/3 · file 1/2',
      '8–13 of 37 · hunk 2/3 · file 1/2',
      '14–19 of 37 · hunk 3/3 · file 1/2',
      '20–25 of 37 · hunk 1/3 · file 2/2',
    ]);
    expect(seen(readAfter(document, port, commands.slice(0, 2))).rows.slice(0, 2)).toEqual([
      'x +3 −3',
      'hunk 2/3 @@ -11,3 +11,3 @@',
    ]);
  });

  test('those on the last screen are gone to one by one, and then none exists', () => {
    const tall = { width: 60, height: 30 };
    const told: (string | null)[] = [];
    let reading = readAfter(document, tall, ['bottom']);
    for (let index = 0; index < 5; index++) {
      const stepped = viewOf(document, tall).step(reading, 'nextHunk');
      reading = stepped.reading;
      told.push(
        stepped.said ??
          viewOf(document, tall)
            .draw(reading)
            .status.replace(/^.*37 · /, ''),
      );
    }
    expect(told).toEqual([
      'hunk 3/3 · file 1/2',
      'hunk 1/3 · file 2/2',
      'hunk 2/3 · file 2/2',
      'hunk 3/3 · file 2/2',
      'no hunk further down',
    ]);
  });

  test('anyone who scrolls to the end is in the last file, be it shorter than the screen', () => {
    const tall = { width: 60, height: 30 };
    const status = (commands: readonly ReadingCommand[]) =>
      viewOf(document, tall).draw(readAfter(document, tall, commands)).status;
    expect(status(['bottom'])).toBe('8–37 of 37 · hunk 3/3 · file 2/2');
    expect(status(['bottom', 'lineUp'])).toBe('7–36 of 37 · hunk 1/3 · file 1/2');
    expect(status([])).toBe('1–30 of 37');
  });
});

/** A change with more unchanged lines around it than are shown. */
const LONG = `--- a\n+++ a\n@@ -1,40 +1,40 @@\n${' same\n'.repeat(20)}-old\n+new\n${' same\n'.repeat(19)}`;
const FOLDED = diffDocument(diffOf(LONG), PLAIN);

test.each([
  [119, 'auto', false],
  [120, 'auto', true],
  [80, 'split', true],
  [200, 'unified', false],
] as const)('at %d cells, %s: split is %s, and switches', (width, layout, isSplit) => {
  const reading = { ...FIRST_READING, layout };
  const viewport = { width, height: 4 };
  expect(lookOf(reading, viewport, null)).toEqual({ isSplit, isUnfolded: false, highlighter: null });
  const switched = readAfter(FOLDED, viewport, ['split', 'fold'], reading);
  expect(lookOf(switched, viewport, null)).toMatchObject({ isSplit: !isSplit, isUnfolded: true });
});

describe('what is laid out as it can be, and no other way', () => {
  const UNFOLDABLE = diffDocument(
    diffOf('--- a\n+++ a\n@@ -1 +1 @@\n-old\n+new\n@@ -9 +9 @@\n-x\n+y\n'),
    PLAIN,
  );
  const said = (document: Document, command: ReadingCommand, reading = FIRST_READING) =>
    viewOf(document, VIEWPORT).step(reading, command);

  test('a fold is unfolded, and folded again', () => {
    const unfolded = said(FOLDED, 'fold');
    expect(unfolded).toMatchObject({ said: null, reading: { isUnfolded: true } });
    const whole = diffDocument(diffOf(LONG), { ...PLAIN, isUnfolded: true });
    expect(said(whole, 'fold', unfolded.reading)).toMatchObject({
      said: null,
      reading: { isUnfolded: false },
    });
  });

  test('lines that the patch does not have cannot be unfolded', () => {
    const { reading, said: words } = said(UNFOLDABLE, 'fold');
    expect([reading.isUnfolded, words]).toEqual([false, 'nothing to unfold: the patch holds no more']);
  });

  test.each(['fold', 'split'] as const)('%s means nothing without a diff, and says so', command => {
    const { reading, said: words } = said(textDocument('a'), command);
    expect([reading.layout, reading.isUnfolded, words]).toEqual(['auto', false, 'this text is not a diff']);
  });
});
