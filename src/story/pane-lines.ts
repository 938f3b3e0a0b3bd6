import type { Drawing } from '../display/choose.js';
import { diffLines } from './diff-lines.js';
import type { Line } from './line.js';
import type { Pane } from './panes.js';
import { quote, say } from './spans.js';
import { textLines } from './text-lines.js';
import type { Layout, Window } from './window.js';

const TITLES: Readonly<Record<Pane['title'], string>> = {
  human: 'HUMAN',
  llm: 'LLM',
  view: 'VIEW',
  answer: 'ANSWER',
};

/** A pane: its heading, its notes, and as much of its drawing as the layout asks for. */
export function paneLines(pane: Pane, layout: Layout): Window {
  const notes = pane.notes.map((note): Line => [...quote(note, 'warn')]);
  const drawn = drawingLines(pane.drawing, layout);
  return {
    ...drawn,
    lines: [paneHeading(pane), ...notes, ...drawn.lines],
    total: drawn.total + 1 + notes.length,
  };
}

/** What a pane is, and what it shows. */
export function paneHeading({ title, about }: Pane): Line {
  return [say(TITLES[title], 'title'), say(' '), ...quote(about, 'dim')];
}

function drawingLines(drawing: Drawing, layout: Layout): Window {
  if (drawing.kind === 'diff') return diffLines(drawing.diff, layout);
  return textLines(drawing.text, layout.count, layout.from);
}
