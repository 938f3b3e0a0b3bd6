import type { Diff } from '../display/diff-model.js';
import { type Drawing, readView } from '../display/segments.js';
import type { View } from '../events/history.js';
import { wholeCharacters } from '../util/text.js';
import { type DiffLook, type Part, partsOf } from './diff.js';
import { type Layout, type Line, quote, say, textLines, type Window } from './line.js';
import { type Pane, unseen } from './panes.js';

/** From here on there is room for old and new beside each other. */
const WIDE = 120;

/**
 * A diff as lines: a header per file, a header per hunk, rows with line numbers and a sign. Only the lines asked for are built.
 * A window that begins below a header begins with that header once more.
 */
export function diffLines(diff: Diff, { from = 0, count, ...layout }: Layout): Window {
  const lines: Line[] = [];
  let total = 0;
  let sticky: number | undefined;
  for (const part of partsOf(diff, lookOf(layout))) {
    const start = Math.max(from - total, 0);
    if (start < part.height) sticky ??= repeatHeaders(part, count, lines);
    const end = Math.min(from + count - (sticky ?? 0) - total, part.height);
    for (let at = start; at < end; at++) lines.push(part.line(at));
    total += part.height;
  }
  return { lines, sticky: sticky ?? 0, total };
}

/** How drawings are laid out, each whole. */
type WholeLayout = Omit<Layout, 'from' | 'count'>;

/** All lines of a pane, each made as it is asked for: its heading, its notes, its drawing. */
export function* wholePane(pane: Pane, layout: WholeLayout): Generator<Line> {
  yield* headLines(pane);
  yield* wholeDrawing(pane.drawing, layout);
}

/** All lines of a drawing, each made as it is asked for. */
export function* wholeDrawing(drawing: Drawing, layout: WholeLayout): Generator<Line> {
  if (drawing.kind === 'text')
    for (const piece of piecesOf(drawing.text, layout.width)) yield* textLines(piece, 1).lines;
  else
    for (const part of partsOf(drawing.diff, lookOf(layout)))
      for (let at = 0; at < part.height; at++) yield part.line(at);
}

/** Characters of a text in one line; with a width, a longer line continues in the next one. */
const PIECE = 3_000;

/** The lines of a text; with a width, long ones are cut at a multiple of it. */
function* piecesOf(text: string, width = Number.POSITIVE_INFINITY): Generator<string> {
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

function lookOf({
  width = 0,
  isUnfolded = false,
  highlighter = null,
}: Omit<Layout, 'from' | 'count'>): DiffLook {
  return { isSplit: width >= WIDE, isUnfolded, highlighter };
}

/** As many as there were. A window that is too low for them and what they are about does without. */
function repeatHeaders({ under }: Part, count: number, lines: Line[]): number {
  if (under.length >= count) return 0;
  for (const header of under) lines.push(header());
  return under.length;
}

const TITLES: Readonly<Record<Pane['title'], string>> = {
  human: 'HUMAN',
  llm: 'LLM',
  view: 'VIEW',
  answer: 'ANSWER',
};

/** A pane: its heading, its notes, and as much of its drawing as the layout asks for. */
export function paneLines(pane: Pane, layout: Layout): Window {
  const head = headLines(pane);
  const drawn = drawingLines(pane.drawing, layout);
  return { ...drawn, lines: [...head, ...drawn.lines], total: head.length + drawn.total };
}

function headLines(pane: Pane): Line[] {
  return [paneHeading(pane), ...pane.notes.map((note): Line => [...quote(note, 'warn')])];
}

/** What a pane is, and what it shows. */
export function paneHeading({ title, about }: Pane): Line {
  return [say(TITLES[title], 'title'), say(' '), ...quote(about, 'dim')];
}

function drawingLines(drawing: Drawing, layout: Layout): Window {
  if (drawing.kind === 'diff') return diffLines(drawing.diff, layout);
  return textLines(drawing.text, layout.count, layout.from);
}

/** A view of a thread, as it is now; what cannot be drawn is shown as it came, with the reason. */
export function viewPane(view: Pick<View, 'type' | 'content' | 'updates'>): Pane {
  const { type, content, updates } = view;
  const about = `${type}, updated ${updates === 1 ? 'once' : `${updates} times`}`;
  const reading = readView(view);
  const drawing = reading.ok
    ? reading.drawing
    : ({ kind: 'text', text: JSON.stringify(content, null, 2) } as const);
  const said = reading.ok ? reading.complaint : reading.reason;
  return {
    title: 'view',
    about,
    notes: [...(said === undefined ? [] : [said]), ...unseen(drawing)],
    drawing,
  };
}
