import { describe, expect, test } from 'vitest';
import { say } from '../../../src/render/line.js';
import { type Table, tableLines } from '../../../src/tui/table.js';
import { words } from '../../support/words.js';

type Name = 'operation' | 'id' | 'thread';

const TABLE: Table<Name> = {
  columns: [
    { name: 'operation', title: 'OPERATION', most: 24 },
    { name: 'id', title: 'ID', most: 16 },
    { name: 'thread', title: 'THREAD', most: 16 },
  ],
  dispensable: ['thread', 'id'],
};

/** The last row of the table. */
function rowOf(state: string, width: number, operation = 'edit_file'): string {
  const cells = { operation: [say(operation)], id: [say('i'.repeat(16))], thread: [say('t'.repeat(16))] };
  const row = { mark: say('✓'), cells: { ...cells, state: [say(state)] }, isRunning: false };
  return words(tableLines(TABLE, [row], undefined, width)[1] ?? []);
}

describe('a state has the room that it needs', () => {
  const STATE = 'success after 1.2s, 12 events so far';

  test.each([
    [100, /i{16} {2}t{16} {2}✓/],
    [80, /i{16} {2}✓/],
    [70, /i{16} {2}✓/],
    [60, /edit_file {2}✓/],
  ])('in %d cells', (width, before) => {
    const row = rowOf(STATE, width);
    expect(row).toMatch(before);
    expect(row.endsWith(STATE)).toBe(true);
  });

  test('a long name gives way, as far as it still says something', () => {
    const name = 'watch_pull_requests_of_all';
    expect(rowOf(STATE, 64, name)).toBe(`  watch_pull_requests_o…  ✓ ${STATE}`);
    expect(rowOf(STATE, 50, name)).toMatch(/^ {2}watch_pull_requ… {2}✓ success/);
  });

  test('a short one leaves it to the others', () => {
    expect(rowOf('sent', 68)).toContain('t'.repeat(16));
  });
});
