import { roundTripsIn } from '../../events/round-trips.js';
import { type Layout, type Line, say } from '../../render/line.js';
import { type Panes, wholeDrawing, wholePane } from '../../render/panes.js';
import { loadHighlighter } from '../../render/syntax.js';
import { type Colours, createTheme, type Theme } from '../../render/terminal/theme.js';
import { paneLayout, wrapLine } from '../../render/terminal/wrap.js';
import { roundTripLines } from '../../render/wire.js';
import type { Drawing } from '../../segments/segments.js';
import type { Messages, Section } from './saved.js';

interface Look extends Omit<Layout, 'count'> {
  readonly width: number;
  readonly theme: Theme;
  readonly isFull: boolean;
}

/** Lays out sections for a width. Each row is created on demand, so that the first appears immediately. */
export async function layoutOf(
  sections: readonly Section[],
  { level, background }: Colours,
  { isUnfolded, isFull }: { readonly isUnfolded: boolean; readonly isFull: boolean },
): Promise<(width: number) => Generator<string>> {
  const highlighter = level >= CODE_LEVEL ? await loadHighlighter(sections.flatMap(drawingsIn)) : null;
  const theme = createTheme(level, background);
  return width => rowsOf(sections, { width, theme, isUnfolded, isFull, highlighter });
}

/** 256 colours: enough for code. */
const CODE_LEVEL = 2;

function drawingsIn(section: Section): readonly Drawing[] {
  if ('human' in section) return [section.human.drawing, section.llm.drawing];
  if ('drawing' in section) return [section.drawing];
  return 'kind' in section ? [section] : [];
}

function* rowsOf(sections: readonly Section[], look: Look): Generator<string> {
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

function* sectionRows(section: Section, look: Look): Generator<string> {
  if ('human' in section) return yield* paneRows(section, look);
  for (const line of sectionLines(section, look)) yield* wrapLine(line, look.width, look.theme);
}

function sectionLines(section: Exclude<Section, Pick<Panes, 'human'>>, look: Look): Iterable<Line> {
  if ('events' in section) return messageLines(section, look);
  if ('drawing' in section) return wholePane(section, look);
  return 'kind' in section ? wholeDrawing(section, look) : section;
}

/** Shows panes side by side if the width allows it. */
function* paneRows({ human, llm }: Pick<Panes, 'human' | 'llm'>, look: Look): Generator<string> {
  const { isSideBySide, width, beside } = paneLayout(look.width);
  const [left, right] = [sectionRows(human, { ...look, width }), sectionRows(llm, { ...look, width })];
  if (isSideBySide) return yield* joined(left, right, beside);
  yield* left;
  yield '';
  yield* right;
}

/** Combines the rows of two panes. After the end of the right pane, left rows are not padded. */
function* joined(
  left: Iterator<string>,
  right: Iterator<string>,
  beside: (left: readonly string[], right: readonly string[]) => string[],
): Generator<string> {
  for (;;) {
    const [one, other] = [left.next(), right.next()];
    if (one.done && other.done) return;
    if (other.done) yield one.value;
    else yield* beside(one.done ? [] : [one.value], [other.value]);
  }
}

function* messageLines({ events, redactor }: Messages, look: Look): Generator<Line> {
  let heading: Line = [say('MESSAGES', 'title')];
  for (const trip of roundTripsIn(events).values()) {
    yield heading;
    heading = [];
    yield* roundTripLines(trip, redactor, look);
  }
}
