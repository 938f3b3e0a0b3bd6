import { cellsOf } from './cells.js';

export interface Columns {
  /** Cells for both columns and the gap. */
  readonly width: number;
  /** Cells between the columns. */
  readonly gap: number;
}

/** Cells for each of two columns: rows must be wrapped to this before {@link sideBySide}. */
export function columnWidth({ width, gap }: Columns): number {
  return Math.max(0, Math.floor((width - gap) / 2));
}

/** Cells of the two columns beside a divider: an odd one is the right one's. */
export function halfWidths(width: number, divider: number): readonly [left: number, right: number] {
  const left = Math.max(0, Math.floor((width - divider) / 2));
  return [left, Math.max(0, width - divider - left)];
}

/** Two columns of dressed rows as one; the shorter goes on with blanks. */
export function sideBySide(left: readonly string[], right: readonly string[], columns: Columns): string[] {
  const column = columnWidth(columns);
  const gap = ' '.repeat(columns.gap);
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => {
    const row = padEnd(left[index] ?? '', column);
    return `${row}${gap}${right[index] ?? ''}`;
  });
}

export interface Divided {
  /** Cells of the left column. */
  readonly left: number;
  /** Dressed; between the columns, in every row. */
  readonly divider: string;
  /** Rows: the divider goes on below what either column says. */
  readonly height: number;
}

/** Two columns of dressed rows with a line between them. */
export function divided(
  left: readonly string[],
  right: readonly string[],
  { left: width, divider, height }: Divided,
): string[] {
  return Array.from(
    { length: height },
    (_, index) => padEnd(left[index] ?? '', width) + divider + (right[index] ?? ''),
  );
}

/** Blocks of rows one below the other, a blank row between those that are not empty. */
export function stack(...blocks: readonly (readonly string[])[]): string[] {
  return blocks
    .filter(block => block.length > 0)
    .flatMap((block, index) => (index === 0 ? block : ['', ...block]));
}

/** At most `max` rows: where there are more, the last one tells how many are not shown. */
export function fitRows(
  rows: readonly string[],
  max: number,
  moreLabel: (count: number) => string,
): string[] {
  if (rows.length <= max) return [...rows];
  if (max <= 0) return [];
  return [...rows.slice(0, max - 1), moreLabel(rows.length - max + 1)];
}

/** Filled up with blanks to so many cells. */
export function padEnd(row: string, width: number): string {
  return row + ' '.repeat(Math.max(0, width - cellsOf(row)));
}
