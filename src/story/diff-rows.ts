import type { Row, RowKind } from '../display/diff/model.js';
import { pairsWithin } from '../display/diff/pairs.js';
import { type Mark, wordMarks } from '../display/diff/words.js';
import { visibleRuns } from '../text/visible.js';
import type { Line, Span, Tone } from './line.js';
import { say } from './spans.js';

/** A longer row is cut for the eye, and its words are not compared. */
const MAX_ROW = 4_000;

const NO_NEWLINE: Line = [say('\\ No newline at end of file', 'dim')];

/** `changed`: the tone of a word that the row does not share with its partner. */
const LOOKS: Readonly<Record<RowKind, { sign: string; tone: Tone; changed: Tone }>> = {
  context: { sign: ' ', tone: 'plain', changed: 'plain' },
  added: { sign: '+', tone: 'added', changed: 'added-word' },
  removed: { sign: '-', tone: 'removed', changed: 'removed-word' },
};

/** How many lines {@link drawRows} has for these rows in all. */
export function heightOf(rows: readonly Row[]): number {
  let height = rows.length;
  for (const row of rows) if (row.noNewline) height++;
  return height;
}

/** The lines `from` … `to` of a hunk's rows; `digits` is the width of a line number. */
export function drawRows(rows: readonly Row[], digits: number, from: number, to: number): Line[] {
  const first = rowAt(rows, from);
  const pairs = pairsWithin(rows, first.index, first.index + to - from);
  const lines: Line[] = [];
  for (let index = first.index; lines.length < to - first.line; index++) {
    const row = rows[index];
    if (!row) break;
    lines.push(drawRow(row, rows[pairs.get(index) ?? -1], digits));
    if (row.noNewline) lines.push(NO_NEWLINE);
  }
  return lines.slice(from - first.line, to - first.line);
}

/** The row that holds a line, and the line it starts on: a row without a newline takes two. */
function rowAt(rows: readonly Row[], wanted: number): { index: number; line: number } {
  let line = 0;
  let index = 0;
  for (const { noNewline } of rows) {
    const next = line + (noNewline ? 2 : 1);
    if (next > wanted) break;
    line = next;
    index++;
  }
  return { index, line };
}

function drawRow(row: Row, partner: Row | undefined, digits: number): Line {
  const { sign, tone } = LOOKS[row.kind];
  const number = (of?: number) => String(of ?? '').padStart(digits);
  return [
    say(`${number(row.oldNo)} ${number(row.newNo)} `, 'gutter'),
    say(sign, tone),
    say(' ', 'gutter'),
    ...body(row, partner),
  ];
}

function body(row: Row, partner: Row | undefined): Line {
  const beyond = row.text.length - MAX_ROW;
  if (beyond <= 0) return spansOf(marksOf(row, partner), row.kind);
  const head = { text: row.text.slice(0, MAX_ROW), changed: false };
  return [...spansOf([head], row.kind), say(` … ${beyond} more characters`, 'dim')];
}

function marksOf(row: Row, partner: Row | undefined): readonly Mark[] {
  if (!partner || partner.text.length > MAX_ROW) return [{ text: row.text, changed: false }];
  return row.kind === 'removed'
    ? wordMarks(row.text, partner.text).removed
    : wordMarks(partner.text, row.text).added;
}

/** Marks and hidden characters cut the same text independently; a hidden one keeps its own tone. */
function spansOf(marks: readonly Mark[], kind: RowKind): Span[] {
  const { tone, changed } = LOOKS[kind];
  const spans: Span[] = [];
  let column = 0;
  for (const mark of marks)
    for (const { text, hidden } of visibleRuns(mark.text, column)) {
      spans.push(say(text, hidden ? 'hidden' : mark.changed ? changed : tone));
      column += text.length;
    }
  return spans;
}
