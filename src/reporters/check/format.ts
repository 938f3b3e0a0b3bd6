import type { ColourLevel } from '../../dress/colour-level.js';
import type { Conformance } from '../../rules/conformance.js';
import type { WireRecord } from '../../story/checks/wire-legs.js';

/** What a report is about. Nothing of it is secret; texts in it are foreign, and not yet made visible. */
export interface CheckStory {
  /** The URL, or the file, that was judged. */
  readonly target: string;
  readonly program: string;
  readonly run: Conformance;
  /** What was worth a word while it happened. */
  readonly warnings: readonly string[];
  readonly record: WireRecord;
  /** How to see the messages whole, of which a report shows a part: what to do, as words. */
  readonly whole: string;
}

/** For whom a report is written. */
export interface CheckLook {
  readonly level: ColourLevel;
  /** Cells of a row; without it, lines are as long as they are: a file or a pipe has no width. */
  readonly width?: number;
  /** Nothing about what is fine. */
  readonly isQuiet: boolean;
}

/** Writes a report whole; it ends with a line feed. */
export type CheckFormat = (story: CheckStory, look: CheckLook) => string;
