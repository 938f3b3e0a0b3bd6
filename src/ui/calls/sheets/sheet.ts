import type { Line } from '../../../story/line.js';
import type { Pane } from '../../../story/pane.js';
import type { Document, Look } from '../../document/index.js';

/** A document under a heading. */
export interface Part {
  readonly title: Line;
  readonly document: Document;
  /** What is drawn in it, where it is drawn from a pane. */
  readonly pane: Pane | null;
  /** More is added at its end as time goes on: whoever reads there goes on reading there. */
  readonly isStream?: true;
}

/** What a tab shows: parts that stand beside or below each other. */
export interface Sheet {
  readonly parts: readonly Part[];
}

/** How a person wants to see it. Who draws knows the highlighter. */
export interface SheetLook extends Omit<Look, 'highlighter'> {
  /** Of the timeline: each message as it was on the wire. */
  readonly showsBytes: boolean;
}

/** Makes a tab's sheet for one call; the same one as long as nothing of it changed. */
export type Tabbed = (look: SheetLook) => Sheet;

export const NO_SHEET: Sheet = { parts: [] };
