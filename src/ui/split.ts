import { divided } from '../dress/columns.js';
import type { Theme } from '../dress/theme.js';
import type { Size } from './terminal.js';

/** Two regions of the screen: a list, and what is told of its selected entry. */
export interface Split {
  readonly list: Size;
  readonly details: Size;
  readonly isBeside: boolean;
}

export interface Shares {
  /** From so many columns on both stand beside each other. */
  readonly wide: number;
  /** Of the width, where they do. */
  readonly share: number;
  /** Rows that the list would fill. */
  readonly wanted: number;
  /** Rows that the details fill: what they leave free is the list's. */
  readonly told?: number;
}

const DIVIDER = ' │ ';
/** Rows below which both together would say nothing. */
const ROOMY = 9;
/** Of the height, where the list stands above. */
const ABOVE = 0.45;

export function splitOf({ columns, rows }: Size, { wide, share, wanted, told = rows }: Shares): Split {
  if (columns >= wide) {
    const left = Math.floor(columns * share);
    const right = columns - left - DIVIDER.length;
    return { isBeside: true, list: { columns: left, rows }, details: { columns: right, rows } };
  }
  if (rows < ROOMY) return { isBeside: false, list: { columns, rows }, details: { columns, rows: 0 } };
  const above = Math.min(wanted, Math.max(4, Math.floor(rows * ABOVE), rows - told - 1));
  return {
    isBeside: false,
    list: { columns, rows: above },
    details: { columns, rows: rows - above - 1 },
  };
}

/** Both regions as rows of the whole. */
export function joined(
  { isBeside, list, details }: Split,
  [ofList, ofDetails]: readonly [readonly string[], readonly string[]],
  theme: Theme,
): readonly string[] {
  if (isBeside)
    return divided(ofList, ofDetails, { left: list.columns, divider: theme.dim(DIVIDER), height: list.rows });
  if (details.rows === 0) return filled(ofList, list.rows);
  return [
    ...filled(ofList, list.rows),
    theme.dim('─'.repeat(list.columns)),
    ...filled(ofDetails, details.rows),
  ];
}

/** Exactly so many rows. */
export function filled(rows: readonly string[], height: number): readonly string[] {
  const missing = Math.max(0, height - rows.length);
  return [...rows.slice(0, height), ...Array.from({ length: missing }, () => '')];
}

/** The first seen of a list, so that the selected entry is in the middle, save at either end. */
export function firstSeen(count: number, selected: number, height: number): number {
  return Math.max(0, Math.min(count - height, selected - Math.floor(height / 2)));
}
