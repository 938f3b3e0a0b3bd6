import type { Drawing } from '../display/choose.js';
import { diffLines } from './diff-lines.js';
import type { Line } from './line.js';
import type { Pane } from './panes.js';
import { quote, say } from './spans.js';
import { textLines, type Window } from './text-lines.js';

const TITLES: Readonly<Record<Pane['title'], string>> = { human: 'HUMAN', llm: 'LLM' };

/** A pane whole: its heading, its notes, and at most `count` lines of its drawing. */
export function paneLines(pane: Pane, count: number): Window {
  const heading: Line = [say(TITLES[pane.title], 'title'), say(' '), ...quote(pane.about, 'dim')];
  const notes = pane.notes.map((note): Line => [...quote(note, 'warn')]);
  const drawn = drawingLines(pane.drawing, count);
  return { lines: [heading, ...notes, ...drawn.lines], total: drawn.total + 1 + notes.length };
}

function drawingLines(drawing: Drawing, count: number): Window {
  return drawing.kind === 'text' ? textLines(drawing.text, count) : diffLines(drawing.diff, { count });
}
