import type { Highlighter } from '../display/syntax/highlighter.js';
import type { Line } from './line.js';

/** Which lines of a drawing are wanted, and how they are to be laid out. */
export interface Layout {
  /** The first of them, 0-based; 0 unless told. */
  readonly from?: number;
  readonly count: number;
  /** Cells of a line: from 120 on a diff has its old and its new side beside each other. */
  readonly width?: number;
  /** Every unchanged line of a diff too. */
  readonly isUnfolded?: boolean;
  /** Without one, code is plain. */
  readonly highlighter?: Highlighter | null;
}

export interface Window {
  readonly lines: readonly Line[];
  /** How many of the first lines say where the rest is from; in the whole they stand further up. */
  readonly sticky?: number;
  /** How many lines there are in all. */
  readonly total: number;
}
