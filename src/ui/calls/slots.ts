import type { Size } from '../terminal.js';

/** Where a part of a sheet stands. */
export interface Slot {
  /** Of the part. */
  readonly index: number;
  /** Of its text, below its title. */
  readonly columns: number;
  readonly rows: number;
}

/** A part before its place is known; its length is asked for only where its height depends on it: it may have to be laid out first. */
export interface Measured {
  readonly document: { readonly length: number };
}

export interface Slots {
  readonly slots: readonly Slot[];
  readonly isBeside: boolean;
}

const TITLE = 1;
/** From so many columns on, parts stand beside each other. */
const WIDE = 100;
/** Rows of text below which a part says nothing. */
const LEAST = 3;
export const DIVIDER = ' │ ';

/** The parts of a sheet that are seen, and how much of each: beside or below each other, or the one with the focus alone. */
export function slotsOf(
  parts: readonly Measured[],
  { focus, isZoomed }: { readonly focus: 'list' | number; readonly isZoomed: boolean },
  size: Size,
): Slots {
  const { columns, rows } = size;
  const count = parts.length;
  if (count === 0) return { slots: [], isBeside: false };
  const isWide = columns >= WIDE;
  if (count === 1 || isZoomed || (!isWide && rows < count * (TITLE + LEAST))) {
    const index = Math.min(typeof focus === 'number' ? focus : 0, count - 1);
    return { slots: [{ index, columns, rows: Math.max(0, rows - TITLE) }], isBeside: false };
  }
  return isWide
    ? { slots: besideOf(count, size), isBeside: true }
    : {
        slots: belowOf(
          parts.map(({ document }) => document.length),
          size,
        ),
        isBeside: false,
      };
}

function besideOf(count: number, { columns, rows }: Size): Slot[] {
  const width = Math.floor((columns - DIVIDER.length * (count - 1)) / count);
  return Array.from({ length: count }, (_, index) => ({
    index,
    columns: width,
    rows: Math.max(0, rows - TITLE),
  }));
}

/** The short ones get what they need, and no more than their share; the others have the rest. */
function belowOf(lengths: readonly number[], { columns, rows }: Size): Slot[] {
  const room = rows - lengths.length * TITLE;
  const granted = lengths.map(() => 0);
  const shortFirst = [...lengths.entries()].sort(([, a], [, b]) => a - b);
  let left = room;
  for (const [nth, [index, length]] of shortFirst.entries()) {
    const share = Math.floor(left / (lengths.length - nth));
    const own = nth === lengths.length - 1 ? left : Math.min(share, Math.max(LEAST, length));
    granted[index] = own;
    left -= own;
  }
  return granted.map((height, index) => ({ index, columns, rows: height }));
}
