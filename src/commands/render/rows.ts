import { sideBySide } from '../../dress/columns.js';
import { wrapLine } from '../../dress/dress.js';
import { GAP, paneLayout } from '../../dress/pane-layout.js';
import type { Theme } from '../../dress/theme.js';
import type { Line } from '../../story/line.js';
import type { Pane } from '../../story/panes.js';
import { messageLines } from './messages.js';
import type { Section } from './sheet.js';
import { type WholeLayout, wholeDrawing, wholePane } from './whole-lines.js';

/** How rows are made. */
export interface Look extends WholeLayout {
  readonly theme: Theme;
}

/** What is shown, row by row, made as they are asked for: the first one is there before the last is thought of. */
export function* rowsOf(sections: readonly Section[], look: Look): Generator<string> {
  let isFirst = true;
  for (const section of sections) {
    let isBegun = false;
    for (const row of sectionRows(section, look)) {
      if (!isBegun && !isFirst) yield '';
      isBegun = true;
      isFirst = false;
      yield row;
    }
  }
}

function sectionRows(section: Section, look: Look): Generator<string> {
  switch (section.kind) {
    case 'lines':
      return wrapped(section.lines, look);
    case 'messages':
      return wrapped(messageLines(section.events, section.redactor, look), look);
    case 'drawing':
      return wrapped(wholeDrawing(section.drawing, look), look);
    case 'pane':
      return paneRows(section.pane, look);
    case 'panes':
      return bothPanes(section.human, section.llm, look);
  }
}

function* bothPanes(human: Pane, llm: Pane, look: Look): Generator<string> {
  const { isSideBySide, width } = paneLayout(look.width);
  const [left, right] = [paneRows(human, { ...look, width }), paneRows(llm, { ...look, width })];
  if (isSideBySide) yield* beside(left, right, look.width);
  else {
    yield* left;
    yield '';
    yield* right;
  }
}

/** Row by row; the left one alone is not filled up. */
function* beside(left: Iterator<string>, right: Iterator<string>, columns: number): Generator<string> {
  for (;;) {
    const [one, other] = [left.next(), right.next()];
    if (one.done && other.done) return;
    if (other.done) yield one.value;
    else yield* sideBySide(one.done ? [] : [one.value], [other.value], { width: columns, gap: GAP });
  }
}

function paneRows(pane: Pane, look: Look): Generator<string> {
  return wrapped(wholePane(pane, look), look);
}

function* wrapped(lines: Iterable<Line>, { width, theme }: Look): Generator<string> {
  for (const line of lines) yield* wrapLine(line, width, theme);
}
