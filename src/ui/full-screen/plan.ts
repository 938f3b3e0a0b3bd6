import { fitRows } from '../../dress/columns.js';
import { cutLine } from '../../dress/cut-line.js';
import { dressLine } from '../../dress/dress.js';
import type { Theme } from '../../dress/theme.js';
import type { Line } from '../../story/line.js';
import { say } from '../../story/spans.js';
import type { Asked } from '../live/picker-rows.js';
import { wrapLines } from '../scrolled-rows.js';
import { filled } from '../split.js';
import type { Size } from '../terminal.js';

/** Rows from which on a blank one below the head is no waste. */
const ROOMY = 16;
const MOST_NOTICES = 4;

/** Everything around the page. */
export interface Around {
  readonly head: readonly Line[];
  readonly notices: readonly Line[];
  /** What is asked, in the room that there is, with the row of its keys; null where nothing is. */
  readonly asked: (size: Size) => Asked | null;
  /** Keys, or what is typed. */
  readonly foot: Line;
}

/** The rows of a frame by what they are for. */
export interface Plan {
  readonly head: readonly string[];
  /** What the page has. */
  readonly body: Size;
  readonly asked: readonly string[];
  readonly foot: readonly string[];
}

/** How much room there is for the page: a frame is one row below the terminal's height, what scrolls cannot be wiped any more. */
export function planOf({ head: above, notices, asked, foot: below }: Around, size: Size, theme: Theme): Plan {
  const { columns } = size;
  const height = Math.max(1, size.rows - 1);
  const draw = (line: Line) => dressLine(cutLine(line, columns), theme);
  const isRoomy = height >= ROOMY;
  const said = isRoomy ? noticeRows(notices, columns, theme) : notices.slice(-1).map(draw);
  const footHeight = Math.min(height, said.length + 1);
  const head = [...above.map(draw), ...(isRoomy ? [''] : [])].slice(0, height - footHeight);
  const left = height - head.length - footHeight;
  const question = asked({ columns, rows: left + 1 });
  const asking = question?.rows.slice(0, left) ?? [];
  const foot = [...said, draw(question?.keys ?? below)].slice(-height);
  return { head, body: { columns, rows: left - asking.length }, asked: asking, foot };
}

function noticeRows(notices: readonly Line[], columns: number, theme: Theme): readonly string[] {
  const more = (count: number) => dressLine([say(`… ${count} more rows`, 'dim')], theme);
  return fitRows(wrapLines(notices, columns, theme), MOST_NOTICES, more);
}

/** The frame whole, around its page. */
export function frameOf({ head, body, asked, foot }: Plan, page: readonly string[]): readonly string[] {
  return [...head, ...filled(page, body.rows), ...asked, ...foot];
}
