import { cutLine } from '../../../dress/cut-line.js';
import { dressLine } from '../../../dress/dress.js';
import type { Theme } from '../../../dress/theme.js';
import type { Line } from '../../../story/line.js';
import { quote, say } from '../../../story/spans.js';
import type { Size } from '../../terminal.js';
import { drawForm } from '../form/index.js';
import { rivalWords } from '../rivals.js';
import type { Filling } from '../state/state.js';

/** Rows below which a heading would be a waste. */
const ROOMY = 8;

export interface FormStanding {
  readonly isSending: boolean;
  /** How many configured toolsets define the operation. */
  readonly rivals: number;
}

/** The operation, and the form of its arguments. */
export function formPage(
  { operation, description, form }: Filling,
  { isSending, rivals }: FormStanding,
  size: Size,
  theme: Theme,
): readonly string[] {
  const { columns, rows } = size;
  if (rows < ROOMY) return drawForm(form, size, theme).rows;
  const sending = isSending ? [say('  sending …', 'running')] : [];
  const heading: Line = [...quote(operation, 'title'), ...sending, say('  '), ...quote(description, 'dim')];
  const remark: Line = rivals > 1 ? [say(rivalWords(rivals), 'bad')] : [];
  const { rows: fields } = drawForm(form, { columns, rows: rows - 2 }, theme);
  return [...[heading, remark].map(line => dressLine(cutLine(line, columns), theme)), ...fields];
}
