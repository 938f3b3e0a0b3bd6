import type { Drawing } from '../../display/choose.js';
import type { Event } from '../../exchange/events.js';
import type { Line } from '../../story/line.js';
import type { Pane } from '../../story/panes.js';
import type { Redactor } from '../../text/redact.js';

/** A part of what is shown; nothing of it is laid out before it is asked for. Parts stand one below the other, a blank row between. */
export type Section =
  | { readonly kind: 'lines'; readonly lines: readonly Line[] }
  | { readonly kind: 'drawing'; readonly drawing: Drawing }
  | { readonly kind: 'pane'; readonly pane: Pane }
  | { readonly kind: 'messages'; readonly events: readonly Event[]; readonly redactor: Redactor }
  /** Side by side where there is room. */
  | { readonly kind: 'panes'; readonly human: Pane; readonly llm: Pane };

export const linesSection = (lines: readonly Line[]): Section => ({ kind: 'lines', lines });

/** All that is drawn in it. */
export function drawingsOf(sections: readonly Section[]): Drawing[] {
  return sections.flatMap(drawingsIn);
}

function drawingsIn(section: Section): Drawing[] {
  switch (section.kind) {
    case 'lines':
    case 'messages':
      return [];
    case 'drawing':
      return [section.drawing];
    case 'pane':
      return [section.pane.drawing];
    case 'panes':
      return [section.human.drawing, section.llm.drawing];
  }
}
