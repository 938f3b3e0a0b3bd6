import { halvesOf, partsOfHalf } from '../../render/line.js';
import { widthOf } from '../../render/terminal/fit.js';
import { isCutOff, scrollTo } from '../../render/terminal/scroll.js';
import { wrapRows } from '../../render/terminal/wrap.js';
import { lastIndexUpTo } from '../../util/collections.js';
import { excerpt } from '../../util/text.js';
import { isMatch, matchPlace, patternOf } from './search.js';
import {
  clamped,
  grouped,
  hasHunks,
  isSplit,
  moved,
  type Position,
  type ReadingStyle,
  screenOf,
  shownLine,
  type View,
} from './view.js';

/** What a command changes, and its message for the user. */
interface Change {
  readonly to?: Partial<Position>;
  readonly style?: Partial<ReadingStyle>;
  readonly said?: string;
}

export type Command = (view: View, position: Position) => Change;

/** Rows that a page repeats; headers may cover as many. */
const OVERLAP = 2;

const SIDEWAYS = 8;

const WHEEL = 3;

/** The share of the screen above a match that was not visible before. */
const ABOVE_MATCH = 1 / 3;

const NO_DIFF = { said: 'this text is not a diff' };

export const COMMANDS = {
  lineUp: scroll(() => -1),
  lineDown: scroll(() => 1),
  wheelUp: scroll(() => -WHEEL),
  wheelDown: scroll(() => WHEEL),
  pageUp: scroll(view => -pageOf(view)),
  pageDown: scroll(pageOf),
  top: () => ({ to: { line: 0, row: 0, jumpedTo: null } }),
  bottom: ({ document }) => ({ to: { line: document.length, row: 0, jumpedTo: null } }),
  left: (_view, { left }) => ({ to: { left: Math.max(0, left - SIDEWAYS) } }),
  right(view, position) {
    const { document, size, style } = view;
    const { lines } = screenOf(view, position);
    const goesOn = lines.some(line => isCutOff(document.line(line), size.columns, position.left));
    return goesOn && !style.isWrapped ? { to: { left: position.left + SIDEWAYS } } : {};
  },
  nextHunk: toLandmark('hunk', 1),
  previousHunk: toLandmark('hunk', -1),
  nextFile: toLandmark('file', 1),
  previousFile: toLandmark('file', -1),
  nextMatch: toMatch(1),
  previousMatch: toMatch(-1),
  wrap: ({ style }) => ({ style: { isWrapped: !style.isWrapped }, to: { row: 0, left: 0 } }),
  split({ document, size, style }) {
    if (!hasHunks(document)) return NO_DIFF;
    return { style: { layout: isSplit(style, size.columns) ? 'unified' : 'split' } };
  },
  fold({ document, style }) {
    if (document.isFoldable()) return { style: { isUnfolded: !style.isUnfolded } };
    return hasHunks(document) ? { said: 'nothing to unfold: the patch holds no more' } : NO_DIFF;
  },
} satisfies Record<string, Command>;

export type ReadingCommand = keyof typeof COMMANDS;

/** Goes to the first match from here on, or else from the top. An empty text ends the search. @param words only the first line is used */
export function searchFor(words: string): Command {
  const [wanted = ''] = words.split(/[\r\n]/, 1);
  if (wanted === '') return () => ({ style: { search: null }, to: { jumpedTo: null } });
  return (view, position) => {
    const style = { ...view.style, search: wanted };
    return { style, ...find({ ...view, style }, position, wanted, lineOf(view, position), 1) };
  };
}

function scroll(rowsOf: (view: View) => number): Command {
  return (view, position) => ({ to: { ...moved(view, position, rowsOf(view)), jumpedTo: null } });
}

function pageOf({ size }: View): number {
  return Math.max(1, size.rows - OVERLAP);
}

function toLandmark(kind: 'hunk' | 'file', step: 1 | -1): Command {
  return (view, position) => {
    const { document } = view;
    const landmarks = document.landmarks(kind);
    const here = lineOf(view, position);
    const line =
      landmarks[step > 0 ? lastIndexUpTo(landmarks, here) + 1 : lastIndexUpTo(landmarks, here - 1)];
    if (line === undefined) return { said: `no ${kind} further ${step > 0 ? 'down' : 'up'}` };
    const headers = document.headersAt(line).length;
    return { to: { ...moved(view, { line, row: 0 }, -headers), jumpedTo: line } };
  };
}

function toMatch(step: 1 | -1): Command {
  return (view, position) => {
    const { search } = view.style;
    if (search === null) return { said: 'no search text' };
    const isOnMatch = position.jumpedTo !== null || step < 0;
    return find(view, position, search, lineOf(view, position) + (isOnMatch ? step : 0), step);
  };
}

/** The line where the user reads. */
function lineOf(view: View, position: Position): number {
  return position.jumpedTo ?? screenOf(view, position).first;
}

function find(view: View, position: Position, words: string, from: number, step: 1 | -1): Change {
  const { document } = view;
  const { length } = document;
  const pattern = patternOf(words);
  const beyond = from >= 0 && from < length ? document.find(pattern, from, step) : null;
  const line = beyond ?? document.find(pattern, step > 0 ? 0 : length - 1, step);
  if (line === null) return { to: { jumpedTo: null }, said: `not found: ${excerpt(words)}` };
  const again = beyond === null ? `from the ${step > 0 ? 'top' : 'bottom'} again: ` : '';
  const place = matchPlace(document, words, line);
  const count = place ? `${grouped(place.nth)} of ${grouped(place.of)} ` : '';
  return {
    to: showingMatch(view, position, line),
    said: `${again}match ${count}on line ${grouped(line + 1)}`,
  };
}

/** The position that shows the match on a line; the text moves only if the match was not visible. */
function showingMatch(view: View, position: Position, index: number): Position {
  const { row, left } = matchIn(view, position.left, index);
  const here = clamped(view, { ...position, left, jumpedTo: index });
  const { lines, headers } = screenOf(view, here);
  const at = lines.indexOf(index) + row - (index === here.line ? here.row : 0);
  if (lines.includes(index) && at >= headers && lines[at] === index) return here;
  return { ...here, ...moved(view, { line: index, row }, -Math.floor(view.size.rows * ABOVE_MATCH)) };
}

/** The row of the first match in a wrapped line, or the cells to scroll to the right in an unwrapped one. */
function matchIn(view: View, left: number, index: number): { readonly row: number; readonly left: number } {
  const { columns } = view.size;
  const line = shownLine(view, index);
  if (view.style.isWrapped) {
    const rows = wrapRows(line, columns, view.palette);
    const row = rows.findIndex(each => each.some(isMatch));
    return { row: Math.max(0, row), left };
  }
  const bodies = halvesOf(line).halves.map(half => partsOfHalf(half).body);
  const half = bodies.findIndex(body => body.some(isMatch));
  const body = bodies[half] ?? [];
  const before = body.slice(0, body.findIndex(isMatch));
  const from = widthOf(before);
  const to = widthOf(body.slice(0, before.length + 1));
  return { row: 0, left: half < 0 ? left : scrollTo(line, columns, half, { from, to }, left) };
}
