import { cutLine } from '../../../../dress/cut-line.js';
import { dressLine, wrapLine } from '../../../../dress/dress.js';
import type { Theme } from '../../../../dress/theme.js';
import type { Line } from '../../../../story/line.js';
import { say } from '../../../../story/spans.js';
import type { Size } from '../../../terminal.js';
import { focusedRow } from '../focus.js';
import type { Form } from '../form.js';
import type { Row } from '../stops.js';
import { detailLines } from './detail-lines.js';
import { faultRows, type Placed, remarkRows } from './fault-rows.js';
import { gridOf, rowLine } from './row-line.js';

export interface Drawing {
  readonly form: Form;
  readonly fields: readonly Row[];
  readonly placed: Placed;
}

const NOTHING: Line = [say('  It names no arguments; Ctrl-E writes some as JSON.', 'dim')];

/** A row of details may be long; more of it is cut. */
const MOST_DETAILS = 4;

/** The fields around the focus, which is in the middle save at either end. Only what can be seen is laid out. */
export function fieldRows(
  { form, fields, placed }: Drawing,
  { columns, rows }: Size,
  theme: Theme,
): readonly string[] {
  if (fields.length === 0) return [dressLine(cutLine(NOTHING, columns), theme)].slice(0, rows);
  const grid = gridOf(fields, columns);
  const focused = focusedRow(form);
  const isFocused = ({ address, kind }: Row) =>
    kind === focused?.kind && String(address) === String(focused.address);
  const at = focused ? fields.findIndex(isFocused) : fields.length;
  const blockOf = (row: Row, index: number) => [
    dressLine(rowLine(row, index === at ? form.cursor : null, grid), theme),
    ...faultRows(row, placed, columns, theme),
    ...(index === at ? detailRows(row, columns, theme) : remarkRows(row, columns, theme)),
  ];
  const near = (from: number, to: number) =>
    fields.slice(Math.max(0, from), to).flatMap((row, index) => blockOf(row, Math.max(0, from) + index));
  return around(near(at - rows, at), near(at, at + 1), near(at + 1, at + 1 + rows), rows);
}

/** As much of what is above and below as there is room for beside the middle. */
function around(
  above: readonly string[],
  middle: readonly string[],
  below: readonly string[],
  rows: number,
): readonly string[] {
  const left = Math.max(0, rows - middle.length);
  const forAbove = Math.min(above.length, Math.max(Math.floor(left / 2), left - below.length));
  const shown = forAbove === 0 ? [] : above.slice(-forAbove);
  return [...shown, ...middle, ...below].slice(0, rows);
}

function detailRows(row: Row, columns: number, theme: Theme): readonly string[] {
  const indent = say(' '.repeat(4), 'gutter');
  return detailLines(row).flatMap(line => wrapLine([indent, ...line], columns, theme).slice(0, MOST_DETAILS));
}
