import { columnWidth } from './columns.js';

/** From here on the two panes stand side by side. */
const WIDE = 120;
/** Cells between them. */
export const GAP = 3;

/** How the human's pane and the LLM's share a width: side by side where there is room, else one below the other. */
export function paneLayout(columns: number): { readonly isSideBySide: boolean; readonly width: number } {
  const isSideBySide = columns >= WIDE;
  return { isSideBySide, width: isSideBySide ? columnWidth({ width: columns, gap: GAP }) : columns };
}
