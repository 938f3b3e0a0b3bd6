import type { Drawing } from '../../display/segments.js';
import type { Content } from '../../events/content.js';
import type { Event, RequestEvent } from '../../events/events.js';
import { type Layout, type Line, quote, say, textLines } from '../../render/line.js';
import { paneLines, wholeDiff } from '../../render/pane-lines.js';
import type { Pane } from '../../render/panes.js';
import { paneLayout, sideBySide, type Theme, wrapLine } from '../../render/terminal/theme.js';
import { bodyText, breakText, requestWords, responseWords } from '../../render/wire.js';
import { prettyJson } from '../../util/json-format.js';
import type { Redactor } from '../../util/redact.js';
import { formatDuration, wholeCharacters } from '../../util/text.js';
import type { Section } from './saved.js';

/** Characters of a text in one line; a longer line continues in the next one. */
const PIECE = 3_000;

/** How drawings are laid out, each whole. */
type WholeLayout = Omit<Layout, 'from' | 'count'> & { readonly width: number };

/** How rows are made. */
export interface Look extends WholeLayout {
  readonly theme: Theme;
}

/** The rows of all sections, each made only when it is asked for, so that the first one comes at once. */
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

/** Everything drawn in the sections, for the highlighter. */
export function drawingsOf(sections: readonly Section[]): Drawing[] {
  return sections.flatMap(section => {
    if (section.kind === 'drawing') return [section.drawing];
    if (section.kind === 'pane') return [section.pane.drawing];
    return section.kind === 'panes' ? [section.human.drawing, section.llm.drawing] : [];
  });
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
      return wrapped(wholePane(section.pane, look), look);
    case 'panes':
      return bothPanes(section.human, section.llm, look);
  }
}

function* wrapped(lines: Iterable<Line>, { width, theme }: Look): Generator<string> {
  for (const line of lines) yield* wrapLine(line, width, theme);
}

function* bothPanes(human: Pane, llm: Pane, look: Look): Generator<string> {
  const { isSideBySide, width } = paneLayout(look.width);
  const paneLook = { ...look, width };
  const left = wrapped(wholePane(human, paneLook), paneLook);
  const right = wrapped(wholePane(llm, paneLook), paneLook);
  if (isSideBySide) return yield* beside(left, right, width);
  yield* left;
  yield '';
  yield* right;
}

/** Row by row; where the right pane has ended, rows of the left one are not padded. */
function* beside(left: Iterator<string>, right: Iterator<string>, width: number): Generator<string> {
  for (;;) {
    const [one, other] = [left.next(), right.next()];
    if (one.done && other.done) return;
    if (other.done) yield one.value;
    else yield* sideBySide(one.done ? [] : [one.value], [other.value], width);
  }
}

const NOTHING: Drawing = { kind: 'text', text: '' };

/** All lines of a pane: its heading, its notes, its drawing. */
export function* wholePane(pane: Pane, layout: WholeLayout): Generator<Line> {
  yield* paneLines({ ...pane, drawing: NOTHING }, { count: 0 }).lines;
  yield* wholeDrawing(pane.drawing, layout);
}

export function* wholeDrawing(drawing: Drawing, layout: WholeLayout): Generator<Line> {
  if (drawing.kind === 'diff') yield* wholeDiff(drawing.diff, layout);
  else for (const piece of piecesOf(drawing.text, layout.width)) yield* textLines(piece, 1).lines;
}

/** The lines of a text, long ones cut at a multiple of the width. */
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

type End = Extract<Event, { kind: 'response' | 'broken' }>;

const TITLE: Line = [say('MESSAGES', 'title')];

const INDENT = say('  ', 'gutter');

const ANSWER = say('  < ', 'gutter');

/** Every message of a call, with its answer, secrets redacted. */
function* messageLines(events: readonly Event[], redactor: Redactor, layout: WholeLayout): Generator<Line> {
  const ends = new Map<string, End>();
  for (const event of events)
    if (event.kind === 'response' || event.kind === 'broken') ends.set(event.leg, event);
  let isFirst = true;
  for (const event of events) {
    if (event.kind !== 'request' || event.purpose === 'discovery') continue;
    yield isFirst ? TITLE : [];
    isFirst = false;
    const end = ends.get(event.leg);
    yield [...requestWords(event, redactor), say('  '), ...endWords(event, end, redactor)];
    yield* bodyLines(event.body, INDENT, redactor, layout);
    if (end?.kind === 'response') yield* bodyLines(end.body, ANSWER, redactor, layout);
  }
}

function endWords({ at }: RequestEvent, end: End | undefined, redactor: Redactor): Line {
  if (!end) return [say('not answered', 'warn')];
  const took = say(` after ${formatDuration(Math.max(0, end.at - at))}`, 'dim');
  if (end.kind === 'response') return [...responseWords(end, redactor), took];
  return [...quote(breakText(end), 'bad'), took];
}

function* bodyLines(
  body: Content | undefined,
  margin: Line[number],
  redactor: Redactor,
  layout: WholeLayout,
): Generator<Line> {
  const text = bodyText(body, redactor);
  if (text === null) return;
  const width = Math.max(1, layout.width - margin.text.length);
  const drawing = { kind: 'text', text: prettyJson(text) ?? text } as const;
  for (const line of wholeDrawing(drawing, { ...layout, width })) yield [margin, ...line];
}
