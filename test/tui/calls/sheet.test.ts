import { describe, expect, test } from 'vitest';
import { say } from '../../../src/render/line.js';
import { createTheme } from '../../../src/render/terminal/theme.js';
import { type Focus, SheetReader } from '../../../src/tui/calls/sheet.js';
import type { Part, Sheet, SheetLook } from '../../../src/tui/calls/tabs.js';
import { type Document, diffDocument, textDocument } from '../../../src/tui/document/documents.js';
import type { ReadingCommand } from '../../../src/tui/document/view.js';
import type { Size } from '../../../src/tui/terminal.js';
import { diffOf, numbered } from '../document/support.js';

const SIZE = { columns: 80, rows: 14 };
const WIDE = { columns: 300, rows: 14 };

const part = (title: string, document: Document, isStream = false): Part => ({
  title: [say(title, 'title')],
  document,
  pane: null,
  ...(isStream && { isStream }),
});

/** A user who reads these parts, the one with this index first. */
function reading(sheetOf: (look: SheetLook) => Sheet, focus = 0) {
  const reader = new SheetReader(createTheme(0));
  const view = { focus: focus as Focus, isZoomed: false, showsBytes: false };
  const lay = (size: Size) => reader.lay('call', sheetOf, view, size);
  return {
    sees: (size: Size = SIZE) => reader.rows(lay(size)),
    press: (command: ReadingCommand, size: Size = SIZE) => reader.step(lay(size), command),
    search: (wanted: string) => reader.search(lay(SIZE), wanted),
    to: (part: number) => {
      view.focus = part;
    },
  };
}

describe('another look', () => {
  const rowsOf = (sign: string, word: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${sign}${word} ${index}\n`).join('');
  const context = rowsOf(' ', 'same', 30);
  const changes = `${rowsOf('-', 'old', 60)}${rowsOf('+', 'new', 60)}`;
  const diff = diffOf(`--- a\n+++ a\n@@ -1,120 +1,120 @@\n${context}${changes}${context}`);
  const person = (focus: number) =>
    reading(
      look => ({
        parts: [
          part('HUMAN', diffDocument(diff, { ...look, highlighter: null })),
          part('LLM', textDocument('done')),
        ],
      }),
      focus,
    );
  /** The first row that is old, as far as it is seen. */
  const topOld = (rows: readonly string[]) => /old \d+/.exec(rows.join('\n'))?.[0];

  test.each(['split', 'fold'] as const)('%s goes on where one was, and back', command => {
    const { press, search, sees } = person(0);
    search('old 40');
    press('lineDown');
    const top = topOld(sees());
    for (let times = 0; times < 2; times++) {
      expect(press(command)).toBeNull();
      expect(topOld(sees())).toBe(top);
    }
  });

  test('so does a terminal that becomes wide enough for two sides', () => {
    const { press, search, sees } = person(0);
    search('old 40');
    press('lineDown');
    const top = topOld(sees());
    const wide = sees(WIDE);
    expect(wide.join('\n')).toMatch(/old 40.*new 40/);
    expect(topOld(wide)).toBe(top);
    expect(topOld(sees())).toBe(top);
  });

  test('what was folded is unfolded where the fold stood', () => {
    const { press, sees } = person(0);
    for (let times = 0; times < 3; times++) press('lineDown');
    expect(sees()[3]).toContain('24 unchanged lines');
    press('fold');
    expect(sees()[3]).toContain('same 3');
  });

  test('a key for diffs is meant for the diff beside what has the focus', () => {
    const { press, sees } = person(1);
    expect(sees().join('\n')).toContain('unchanged lines');
    expect(press('fold')).toBeNull();
    expect(sees().join('\n')).not.toContain('unchanged lines');
  });
});

describe('what is added to', () => {
  const stream = (begin: number) => {
    let count = begin;
    const person = reading(() => ({ parts: [part('HUMAN', textDocument(numbered(count)), true)] }));
    const grow = (by: number) => {
      count += by;
    };
    return { ...person, grow };
  };
  const last = (rows: readonly string[]) => rows.findLast(row => row !== '');

  test('is followed by anyone who sees its end', () => {
    const { grow, sees } = stream(5);
    expect(last(sees())).toBe('line 5');
    grow(100);
    expect(last(sees())).toBe('line 105');
    grow(1);
    expect(last(sees())).toBe('line 106');
  });

  test('is not followed by anyone who reads further up, until they are back', () => {
    const { grow, sees, press } = stream(50);
    sees();
    grow(1);
    expect(sees()[1]).toBe('line 1');
    press('bottom');
    grow(1);
    expect(last(sees())).toBe('line 52');
    press('lineUp');
    sees();
    grow(1);
    expect(last(sees())).toBe('line 51');
    press('pageDown');
    grow(1);
    expect(last(sees())).toBe('line 54');
  });
});

test('what is not added to, but becomes another, is read from where one was', () => {
  let count = 5;
  const { sees } = reading(() => ({ parts: [part('VIEW', textDocument(numbered(count)))] }));
  sees();
  count = 100;
  expect(sees()[1]).toBe('line 1');
});

test('n goes on with a search in another part', () => {
  const parts = [part('HUMAN', textDocument('needle\nneedle\nhay')), part('LLM', textDocument('hay'))];
  const { search, to, press } = reading(() => ({ parts }), 1);
  expect(search('needle')).toBe('not found: "needle"');
  to(0);
  expect(press('nextMatch')).toBe('match 1 of 2 on line 1');
  expect(press('nextMatch')).toBe('match 2 of 2 on line 2');
});
