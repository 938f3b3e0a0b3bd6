import { type Line, say } from '../render/line.js';
import { fitLine } from '../render/terminal/fit.js';
import { wrapRows } from '../render/terminal/wrap.js';
import type { KeyTable } from './keys.js';

/** Minimum width of a column, in cells. */
const MIN_COLUMN = 56;

const GAP = 3;

/** The keys that contain a text, as a page: a heading for each place, in as many columns as fit. */
export function helpLines(tables: readonly KeyTable[], filter: string, columns: number): readonly Line[] {
  const wanted = filter.toLowerCase();
  const found = tables
    .map(({ title, keys }) => ({
      title,
      keys: keys.filter(({ label, does }) => `${title} ${label} ${does}`.toLowerCase().includes(wanted)),
    }))
    .filter(({ keys }) => keys.length > 0);
  if (found.length === 0) return [[say(`No key matches "${filter}".`, 'dim')]];
  const count = Math.max(1, Math.min(3, Math.floor((columns + GAP) / (MIN_COLUMN + GAP))));
  const width = Math.floor((columns - GAP * (count - 1)) / count);
  const label = Math.max(...found.flatMap(({ keys }) => keys.map(each => each.label.length)));
  const blocks = found.map(table => tableLines(table, label, width));
  return beside(columnsOf(blocks, count), width);
}

function tableLines({ title, keys }: KeyTable, label: number, width: number): readonly Line[] {
  const lines = keys.map(
    (key): Line => [say('  '), say(key.label.padEnd(label), 'title'), say('  ', 'gutter'), say(key.does)],
  );
  return [[say(title.toUpperCase(), 'title')], ...lines].flatMap(line => wrapRows(line, width));
}

/** Distributes blocks in their order over columns of about the same height, with a blank row between blocks. */
function columnsOf(blocks: readonly (readonly Line[])[], count: number): readonly (readonly Line[])[] {
  const total = blocks.reduce((sum, block) => sum + block.length + 1, 0);
  const columns: Line[][] = [[]];
  for (const block of blocks) {
    const column = columns.at(-1) ?? [];
    const isFull = column.length + block.length / 2 > total / count && columns.length < count;
    if (column.length > 0 && isFull) columns.push([...block]);
    else column.push(...(column.length > 0 ? [[]] : []), ...block);
  }
  return columns;
}

function beside(columns: readonly (readonly Line[])[], width: number): readonly Line[] {
  const height = Math.max(...columns.map(({ length }) => length));
  return Array.from({ length: height }, (_, row) =>
    columns.flatMap((column, index): Line => {
      const line = column[row] ?? [];
      return index === columns.length - 1 ? line : [...fitLine(line, width), say(' '.repeat(GAP))];
    }),
  );
}
