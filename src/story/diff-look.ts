import type { Highlighter } from '../display/syntax/highlighter.js';

/** How a diff is laid out. */
export interface DiffLook {
  /** Old and new beside each other, instead of below each other. */
  readonly isSplit: boolean;
  readonly isUnfolded: boolean;
  readonly highlighter: Highlighter | null;
}

/** The same for one of its files. */
export interface FileLook extends DiffLook {
  readonly path: string;
  /** The width of a line number. */
  readonly digits: number;
}
