/** How far a person has read in a document, and how it is laid out for them. */
export interface Reading {
  /** The first line on the screen. */
  readonly line: number;
  /** Where that is wrapped: how many of its rows have scrolled away. */
  readonly row: number;
  /** Cells scrolled to the right, where lines are not wrapped. */
  readonly left: number;
  readonly isWrapped: boolean;
  readonly layout: 'auto' | 'split' | 'unified';
  readonly isUnfolded: boolean;
  /** What is searched for, as it was typed. */
  readonly wanted: string | null;
  /** The line last gone to (a match, a hunk, a file), until one scrolls. */
  readonly spot: number | null;
  /** Nothing was below when it was last seen: whoever reads what is added to goes on from there. */
  readonly isAtEnd: boolean;
}

/** At the top of something that nobody has read in yet. */
export const FIRST_READING: Reading = {
  line: 0,
  row: 0,
  left: 0,
  isWrapped: true,
  layout: 'auto',
  isUnfolded: false,
  wanted: null,
  spot: null,
  isAtEnd: false,
};

/** The rows and columns that a document has on the screen. */
export interface Viewport {
  readonly width: number;
  readonly height: number;
}

export type ReadingCommand =
  | 'lineUp'
  | 'lineDown'
  | 'pageUp'
  | 'pageDown'
  | 'left'
  | 'right'
  | 'top'
  | 'bottom'
  | 'nextHunk'
  | 'previousHunk'
  | 'nextFile'
  | 'previousFile'
  | 'wrap'
  | 'split'
  | 'fold'
  | 'nextMatch'
  | 'previousMatch';

/** What came of a command: `said` is for the person, in our own words. */
export interface Stepped {
  readonly reading: Reading;
  readonly said: string | null;
}
