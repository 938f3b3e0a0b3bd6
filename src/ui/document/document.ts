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
  /** Whether lines are left out of it, or would be if it were folded. */
  isFoldable(): boolean;
  /** What stands on a line. */
  anchorAt(line: number): Anchor;
  /** The line where that stands under this look; where it is folded away, the fold. */
  lineAt(anchor: Anchor): number;
}

export type Landmark = 'hunk' | 'file';

/** A place in what is drawn, the same under every look: which part of it, and where in that, which may have parts too. */
export type Anchor = readonly number[];

/** How documents are laid out. */
export interface Look {
  /** Of diffs: old and new beside each other. */
  readonly isSplit: boolean;
  readonly isUnfolded: boolean;
  /** Without one, code is plain. */
  readonly highlighter: Highlighter | null;
}
