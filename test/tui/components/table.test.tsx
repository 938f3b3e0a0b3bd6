import { expect, test } from 'vitest';
import { say } from '../../../src/render/line.js';
import { Table } from '../../../src/tui/components/Table.js';
import { rowsOf } from '../drawn.js';

const HEAD = [say('  TIME  STATE', 'dim')];
const ROWS = [[say('  0:01  '), say('✓ success', 'good')], [say('❯ 0:02  … pending')]];
const SIZE = { columns: 20, rows: 4 };

test('a table has its head above the rows, and takes its whole height', () => {
  expect(rowsOf(<Table head={HEAD} rows={ROWS} focused={1} size={SIZE} />, 20)).toEqual([
    '  TIME  STATE',
    '  0:01  ✓ success',
    '❯ 0:02  … pending',
    '',
  ]);
  expect(rowsOf(<Table head={null} rows={ROWS} focused={null} size={SIZE} />, 20)[0]).toContain('0:01');
});

test('the row with the focus is a bar over the whole width', () => {
  const rows = (focused: number | null) =>
    rowsOf(<Table head={null} rows={ROWS} focused={focused} size={SIZE} />, 20, 1);
  const [bar = ''] = rows(0);
  expect(bar.replaceAll('\u001b', '␛')).toBe('␛[7m  0:01  ✓ success   ␛[27m');
  expect(rows(null)[0]).not.toContain('\u001b[7m');
});
