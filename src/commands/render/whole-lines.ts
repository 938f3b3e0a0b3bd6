import type { Drawing } from '../../display/choose.js';
import { wholeDiff } from '../../story/diff-lines.js';
import type { Line } from '../../story/line.js';
import { paneLines as paneWindow } from '../../story/pane-lines.js';
import type { Pane } from '../../story/panes.js';
import { textLines } from '../../story/text-lines.js';
import type { Layout } from '../../story/window.js';

/** Characters of a text made into a line at once; a longer line goes on in the next one. */
const PIECE = 3_000;

/** How drawings are laid out; all of each is wanted. */
export type WholeLayout = Omit<Layout, 'from' | 'count'> & { readonly width: number };

/** A pane whole: its heading, its notes, its drawing, each line made when it is asked for. */
export function* wholePane(pane: Pane, layout: WholeLayout): Generator<Line> {
  yield* paneWindow({ ...pane, drawing: NOTHING }, { count: 0 }).lines;
  yield* wholeDrawing(pane.drawing, layout);
}

const NOTHING: Drawing = { kind: 'text', text: '' };

/** A drawing whole, likewise. */
export function* wholeDrawing(drawing: Drawing, layout: WholeLayout): Generator<Line> {
  if (drawing.kind === 'diff') yield* wholeDiff(drawing.diff, layout);
  else for (const piece of piecesOf(drawing.text, layout.width)) yield* textLines(piece, 1).lines;
}

/** The lines of a text, none longer than is shown whole. */
function* piecesOf(text: string, width: number): Generator<string> {
  const longest = Math.max(width, PIECE - (PIECE % width));
  for (let from = 0; from < text.length || from === 0; ) {
    const feed = text.indexOf('\n', from);
    const end = feed < 0 ? text.length : feed;
    do {
      const cut = Math.min(end, wholeCharacters(text, from + longest));
      yield text.slice(from, cut);
      from = cut;
    } while (from < end);
    from = end + 1;
  }
}

/** Half of a surrogate pair would be shown as something hidden. */
function wholeCharacters(text: string, end: number): number {
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end;
}
