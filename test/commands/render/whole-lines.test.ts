import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wholeDrawing, wholePane } from '../../../src/commands/render/rows.js';
import { parsePatch } from '../../../src/display/diff.js';
import { textLines } from '../../../src/render/line.js';
import { words } from '../../support/words.js';

const linesOf = (text: string, width = 80) => [...wholeDrawing({ kind: 'text', text }, { width })].map(words);

describe('a text', () => {
  test.each(['', 'a', 'a\n', '\n', 'a\n\nb', '\n\na', 'a\tb\n\u001b[2J'])(
    '%j has the lines of a pane',
    text => {
      expect(linesOf(text)).toEqual(textLines(text, Number.POSITIVE_INFINITY).lines.map(words));
    },
  );

  test('of whatever lines has those of a pane', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '\n', '漢', '👍', '\u001b'), maxLength: 40 }),
        text => {
          expect(linesOf(text)).toEqual(textLines(text, Number.POSITIVE_INFINITY).lines.map(words));
        },
      ),
    );
  });

  test('of one endless line loses nothing of it', () => {
    const text = `${'x'.repeat(9_000)}👍${'y'.repeat(5_000)}`;
    expect(linesOf(text).length).toBeGreaterThan(3);
    expect(linesOf(text).join('')).toBe(text);
  });

  test('is not read to its end for its first line', () => {
    const [first] = wholeDrawing({ kind: 'text', text: 'first\n'.repeat(2_000_000) }, { width: 80 });
    expect(words(first ?? [])).toBe('first');
  });
});

test('a diff repeats none of its headers, however long it is', () => {
  const rows = Array.from({ length: 5_000 }, (_, row) => `-${row}\n+${row + 1}\n`).join('');
  const parsed = parsePatch(`--- a\n+++ a\n@@ -1,5000 +1,5000 @@\n${rows}`);
  if (!parsed.ok) throw new Error(parsed.reason);
  const drawing = { kind: 'diff', path: 'a', diff: parsed.diff, raw: '' } as const;
  const lines = [...wholeDrawing(drawing, { width: 80 })].map(words);
  expect(lines).toHaveLength(10_002);
  expect(lines.filter(line => line.startsWith('@@'))).toHaveLength(1);
});

test('a pane begins with its heading and its notes', () => {
  const pane = {
    title: 'llm',
    about: 'text',
    notes: ['a note'],
    drawing: { kind: 'text', text: 'a\nb' },
  } as const;
  expect([...wholePane(pane, { width: 80 })].map(words)).toEqual(['LLM text', 'a note', 'a', 'b']);
});
