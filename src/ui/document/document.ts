import type { Highlighter } from '../../display/syntax/highlighter.js';
import type { Line } from '../../story/line.js';

/** Something long that is read on the screen; a line is made only when it is asked for. */
export interface Document {
  /** Lines under this look. */
  readonly length: number;
  /** A line, counted from 0; empty where there is none. */
  line(index: number): Line;
  /** The headers that it stands under (file, hunk), to be repeated at the top where they have scrolled away. */
  headersAt(index: number): readonly Line[];
  /**
   * The nearest line at or beyond `from` in this direction whose own text (not the gutter, not our words) matches; null where
   * there is none.
   * @param wanted without anchors and without the flags `g` and `y`: it is tried on many lines at once; it matches no line feed
   */
  find(wanted: RegExp, from: number, step: 1 | -1): number | null;
  /** The lines where a hunk or a file begins, ascending. */
  landmarks(kind: Landmark): ArrayLike<number>;
}

export type Landmark = 'hunk' | 'file';

/** How documents are laid out. */
export interface Look {
  /** Of diffs: old and new beside each other. */
  readonly isSplit: boolean;
  readonly isUnfolded: boolean;
  /** Without one, code is plain. */
  readonly highlighter: Highlighter | null;
}
