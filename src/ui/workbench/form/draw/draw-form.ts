import type { Theme } from '../../../../dress/theme.js';
import type { Size } from '../../../terminal.js';
import { placedFaults } from '../faults.js';
import type { Form } from '../form.js';
import { rowsOf } from '../stops.js';
import { faultRows } from './fault-rows.js';
import { fieldRows } from './field-rows.js';
import { rawRows } from './raw-rows.js';
import { runRow } from './run-row.js';

/** Rows from which on a blank one sets `Run` apart. */
const ROOMY = 12;

/**
 * A form as rows of the terminal, at most `rows` of them: what is wrong as a whole, the fields around the focus, `Run`.
 * No row is wider than `columns`; all foreign words are made visible (threats, row 24).
 */
export function drawForm(
  form: Form,
  { columns, rows }: Size,
  theme: Theme,
): { readonly rows: readonly string[] } {
  const fields = form.mode === 'raw' ? [] : rowsOf(form.root);
  const placed = placedFaults(fields, form.faults);
  const top = faultRows(undefined, placed, columns, theme).slice(0, Math.floor(rows / 3));
  const foot = [...(rows >= ROOMY ? [''] : []), runRow(form, fields, columns, theme)];
  const size = { columns, rows: Math.max(0, rows - top.length - foot.length) };
  const body =
    form.mode === 'raw' ? rawRows(form, size, theme) : fieldRows({ form, fields, placed }, size, theme);
  return { rows: [...top, ...body, ...foot].slice(-Math.max(1, rows)) };
}
