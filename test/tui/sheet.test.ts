import { createElement } from 'react';
import { describe, expect, test } from 'vitest';
import { say } from '../../src/render/line.js';
import { paletteOf } from '../../src/render/terminal/theme.js';
import { Sheet } from '../../src/tui/components/Reader.js';
import type { ReadingCommand } from '../../src/tui/reading/commands.js';
import { diffDocument } from '../../src/tui/reading/diff-document.js';
import { type Document, linesDocument } from '../../src/tui/reading/document.js';
import { onePart, type Part } from '../../src/tui/reading/parts.js';
import {
  EMPTY_READING,
  layOutSheet,
  partText,
  type ReadingState,
  readSheet,
  type SheetPlace,
  searchSheet,
  sheetSeen,
} from '../../src/tui/reading/sheet.js';
import { textDocument } from '../../src/tui/reading/text-document.js';
import { rowsOf } from './drawn.js';
import { diffOf, numbered } from './texts.js';

function part(name: string, document: Document | Part['document'], isStream = false): Part {
  return {
    title: [say(name)],
    document: look => (typeof document === 'function' ? document(look) : document),
    isStream,
  };
}

function placeOf(sheet: readonly Part[], change: Partial<SheetPlace> = {}): SheetPlace {
  return {
    name: 'call',
    sheet,
    focus: 0,
    isZoomed: false,
    showsBytes: false,
    size: { columns: 80, rows: 24 },
    palette: paletteOf(0),
    highlighter: () => null,
    ...change,
  };
}

const stateAfter = (place: SheetPlace, ...commands: readonly ReadingCommand[]) =>
  commands.reduce((state, command) => readSheet(state, place, command).state, EMPTY_READING);

const positionIn = (state: ReadingState, place: SheetPlace) => layOutSheet(state, place).slots[0]?.position;

describe('the rows of stacked parts', () => {
  const long = textDocument(numbered(100));
  const json = textDocument('x'.repeat(150)); // two rows of 80 columns
  const heights = (...documents: readonly Document[]) => {
    const sheet = documents.map((document, index) => part(`${index}`, document));
    return layOutSheet(EMPTY_READING, placeOf(sheet)).slots.map(({ view }) => view.size.rows);
  };

  test.each([
    ['a short text gets the rows that it needs when wrapped', [long, json], [20, 2]],
    ['above a long text too', [json, long], [2, 20]],
    ['a line gets one row', [long, textDocument('done')], [21, 1]],
    ['long texts share the rows', [long, long], [11, 11]],
    ['the longest of short texts gets the rest', [json, textDocument('done')], [21, 1]],
  ])('%s', (_, documents, rows) => {
    expect(heights(...documents)).toEqual(rows);
  });

  test('an unwrapped line takes one row', () => {
    const place = placeOf([part('HUMAN', long), part('LLM', json)]);
    expect(layOutSheet(stateAfter(place, 'wrap'), place).slots.map(({ view }) => view.size.rows)).toEqual([
      21, 1,
    ]);
  });

  test('if there are too few rows, only the part with the focus is shown', () => {
    const place = placeOf([part('HUMAN', long), part('LLM', json)], {
      focus: 1,
      size: { columns: 80, rows: 7 },
    });
    expect(layOutSheet(EMPTY_READING, place).slots.map(({ index }) => index)).toEqual([1]);
  });
});

describe('a command', () => {
  const place = placeOf([part('T', textDocument(numbered(500)))]);

  test.each<readonly [ReadingCommand, number]>([
    ['lineDown', 1],
    ['wheelDown', 3],
    ['pageDown', 21],
    ['bottom', 477],
  ])('%s goes to line %i, and changes no earlier state', (command, line) => {
    const { state, said } = readSheet(EMPTY_READING, place, command);
    expect(positionIn(state, place)).toMatchObject({ line });
    expect(said).toBeNull();
    expect(EMPTY_READING.positions.size).toBe(0);
  });

  test('wheelUp goes three lines up', () => {
    expect(positionIn(stateAfter(place, 'bottom', 'wheelUp'), place)).toMatchObject({ line: 474 });
  });

  test('changes the style of all texts', () => {
    expect(stateAfter(place, 'wrap').style.isWrapped).toBe(false);
    const { state, said } = searchSheet(EMPTY_READING, place, 'line 7');
    expect(state.style.search).toBe('line 7');
    expect(said).toBe('match 1 of 11 on line 7');
    expect(searchSheet(state, place, '').state.style.search).toBeNull();
  });

  test('does nothing in a sheet without parts', () => {
    expect(readSheet(EMPTY_READING, placeOf([]), 'lineDown')).toEqual({ state: EMPTY_READING, said: null });
  });
});

test('the positions of the latest 200 parts are remembered', () => {
  const { sheet } = placeOf([part('T', textDocument(numbered(500)))]);
  const placeNamed = (name: string) => placeOf(sheet, { name });
  let state = EMPTY_READING;
  for (let each = 0; each < 250; each++) {
    state = readSheet(state, placeNamed('kept'), 'lineDown').state;
    state = readSheet(state, placeNamed(`${each}`), 'lineDown').state;
  }
  expect(state.positions.size).toBe(200);
  const lineIn = (name: string) => positionIn(state, placeNamed(name))?.line;
  expect(['kept', '249', '51', '50'].map(lineIn)).toEqual([250, 1, 1, 0]);
});

describe('a part that grows', () => {
  const placeWith = (count: number, isStream = true) =>
    placeOf([part('T', textDocument(numbered(count)), isStream)], { size: { columns: 80, rows: 11 } });

  test('is followed once its end was seen', () => {
    const seen = sheetSeen(EMPTY_READING, placeWith(5));
    expect(positionIn(seen, placeWith(100))).toMatchObject({ line: 90, isAtEnd: true });
    expect(positionIn(EMPTY_READING, placeWith(100))).toMatchObject({ line: 0, isAtEnd: false });
  });

  test('changes the state only if something changed', () => {
    const seen = sheetSeen(EMPTY_READING, placeWith(5));
    expect(seen).not.toBe(EMPTY_READING);
    expect(sheetSeen(seen, placeWith(5))).toBe(seen);
    const grown = sheetSeen(seen, placeWith(100));
    expect(grown).not.toBe(seen);
    expect(sheetSeen(grown, placeWith(100))).toBe(grown);
    expect(sheetSeen(EMPTY_READING, placeWith(100))).toBe(EMPTY_READING);
    expect(sheetSeen(EMPTY_READING, placeWith(5, false))).toBe(EMPTY_READING);
  });
});

describe('the text to copy', () => {
  test('of a diff has its signs and all of its lines, but no line numbers', () => {
    const patch = `--- x\n+++ x\n@@ -1,13 +1,13 @@\n${numbered(12).replaceAll(/^/gm, ' ')}\n-old\n+new\n`;
    const wide = { size: { columns: 300, rows: 24 } };
    const copied = partText(placeOf([part('T', look => diffDocument(diffOf(patch), look))], wide));
    expect(copied).toBe(`x +1 −1\n${patch.split('\n').slice(2, -1).join('\n')}`);
  });

  test('has long lines whole, shows control characters, and is that of the part with the focus', () => {
    const sheet = [
      part('HUMAN', textDocument('a')),
      part('LLM', textDocument(`${'x'.repeat(2_500)}\n\u001b[2J\n`)),
    ];
    expect(partText(placeOf(sheet, { focus: 1 }))).toBe(`${'x'.repeat(2_500)}\n␛[2J`);
    expect(partText(placeOf(sheet, { focus: 'list' }))).toBe('a');
    expect(partText(placeOf([]))).toBe('');
  });

  test('keeps labels, and drops margins', () => {
    const lines = [
      [say('id        ', 'gutter'), say('7')],
      [say('    ', 'gutter'), say('more')],
    ];
    expect(partText(placeOf(onePart([], lines)))).toBe('id        7\nmore');
  });

  test('has at most a million characters', () => {
    const sheet = [
      part('T', textDocument(numbered(200_000))),
      part('T', linesDocument([[say('😀'.repeat(600_000))]])),
    ];
    for (const focus of sheet.keys()) {
      const copied = partText(placeOf(sheet, { focus }));
      expect(copied.length).toBeGreaterThan(999_900);
      expect(copied.length).toBeLessThanOrEqual(1_000_000);
      expect(copied.isWellFormed()).toBe(true);
    }
  });
});

describe('a sheet on the screen', () => {
  const draw = (place: SheetPlace, reading = EMPTY_READING, onSeen = (_: SheetPlace) => {}) =>
    rowsOf(createElement(Sheet, { reading, place, onSeen }), place.size.columns);
  const sheet = [part('HUMAN', textDocument(numbered(50))), part('LLM', textDocument('done'))];

  test('is stacked, with the reading position beside each heading', () => {
    const rows = draw(placeOf(sheet, { size: { columns: 40, rows: 9 } }));
    expect(rows).toEqual([
      `❯ HUMAN${'1–6 of 50'.padStart(33)}`,
      ...numbered(6).split('\n'),
      `  LLM${'1–1 of 1'.padStart(35)}`,
      'done',
    ]);
  });

  test('has a continuous line between parts side by side', () => {
    const rows = draw(placeOf(sheet, { size: { columns: 103, rows: 6 } }));
    expect(rows).toHaveLength(6);
    expect(rows.map(row => row.slice(50, 52))).toEqual(Array.from({ length: 6 }, () => ' │'));
    expect(rows[1]).toBe(`${'line 1'.padEnd(50)} │ done`);
  });

  test('reports that a part which grows was seen, until the state remembers it', () => {
    const place = placeOf([part('T', textDocument('a'), true)]);
    const seen: SheetPlace[] = [];
    draw(place, EMPTY_READING, each => seen.push(each));
    draw(place, sheetSeen(EMPTY_READING, place), each => seen.push(each));
    expect(seen).toEqual([place]);
  });
});
