import { expect, test } from 'vitest';
import { Help } from '../../../src/tui/components/Help.js';
import { rowsOf } from '../drawn.js';

const TABLES = ['Tools', 'Calls', 'Reading'].map(title => ({
  title,
  keys: [
    { label: '⏎', does: `open one of the ${title.toLowerCase()}` },
    { label: 'Home g', does: 'the first one' },
  ],
}));

const helpOf = (columns: number, { filter = '', scroll = 0, rows = 8 } = {}) =>
  rowsOf(<Help tables={TABLES} filter={filter} scroll={scroll} size={{ columns, rows }} />, columns);

test.each([
  [60, ['TOOLS']],
  [120, ['TOOLS', 'READING']],
  [200, ['TOOLS', 'CALLS', 'READING']],
])('at %i columns the first row has the headings %j', (columns, headings) => {
  expect(helpOf(columns)[0]?.split(/ +/)).toEqual(headings);
});

test('the keys of a place are below its name, and the rows that do not fit are counted', () => {
  expect(helpOf(60)).toEqual([
    'TOOLS',
    '  ⏎       open one of the tools',
    '  Home g  the first one',
    '',
    'CALLS',
    '  ⏎       open one of the calls',
    '  Home g  the first one',
    '… 4 more rows',
  ]);
});

test('it scrolls, to its last row at most', () => {
  expect(helpOf(60, { scroll: 8, rows: 2 })[0]).toBe('READING');
  const rows = helpOf(60, { rows: 60 }).filter(row => row !== '');
  expect(helpOf(60, { scroll: 100, rows: 4 }).at(-1)).toBe(rows.at(-1));
});

test('a filter shows the keys that contain a text, in any case', () => {
  expect(helpOf(60, { filter: 'THE CALLS', rows: 3 })).toEqual(['CALLS', '  ⏎  open one of the calls', '']);
  expect(helpOf(60, { filter: 'home', rows: 20 }).filter(row => row.includes('⏎'))).toEqual([]);
  expect(helpOf(60, { filter: 'x y', rows: 1 })).toEqual(['No key matches "x y".']);
});
