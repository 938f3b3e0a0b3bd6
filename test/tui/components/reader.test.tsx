import { expect, test } from 'vitest';
import { say } from '../../../src/render/line.js';
import { paletteOf } from '../../../src/render/terminal/theme.js';
import { Reader } from '../../../src/tui/components/Reader.js';
import { EMPTY_READING, layOutSheet, readSheet, type SheetPlace } from '../../../src/tui/reading/sheet.js';
import { textDocument } from '../../../src/tui/reading/text-document.js';
import { rowsOf } from '../drawn.js';
import { numbered } from '../texts.js';

/** A text in 30 columns and 5 rows, after a page down. */
function drawn(text: string, change: Partial<SheetPlace> = {}): readonly string[] {
  const place: SheetPlace = {
    name: 'text',
    sheet: [{ title: [say('LLM text')], document: () => textDocument(text) }],
    focus: 0,
    isZoomed: false,
    showsBytes: false,
    size: { columns: 30, rows: 5 },
    palette: paletteOf(0),
    highlighter: () => null,
    ...change,
  };
  const [part] = layOutSheet(readSheet(EMPTY_READING, place, 'pageDown').state, place).slots;
  return part ? rowsOf(<Reader part={part} isBeside={false} />, 30) : [];
}

test('shows the rows from its position, which is beside the heading', () => {
  expect(drawn(numbered(50))).toEqual([
    `❯ LLM text${'3–6 of 50'.padStart(20)}`,
    'line 3',
    'line 4',
    'line 5',
    'line 6',
  ]);
});

test('takes its whole height; without the focus it has no mark', () => {
  expect(drawn('done', { focus: 'list' })).toEqual([
    `  LLM text${'1–1 of 1'.padStart(20)}`,
    'done',
    '',
    '',
    '',
  ]);
});

test('wraps a long line', () => {
  expect(drawn(`${'long '.repeat(10)}\nend`).slice(1, 3)).toEqual([
    'long long long long long long',
    'long long long long',
  ]);
});
