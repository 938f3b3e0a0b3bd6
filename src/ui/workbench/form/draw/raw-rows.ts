import { cutLine } from '../../../../dress/cut-line.js';
import { dressLine } from '../../../../dress/dress.js';
import type { Theme } from '../../../../dress/theme.js';
import { say } from '../../../../story/spans.js';
import { quietLine, typedLine } from '../../../prompt/text-window.js';
import type { Size } from '../../../terminal.js';
import type { Form } from '../form.js';
import { isFillable } from '../form-of.js';
import { lineStart } from '../typing.js';

const NO_WAY_BACK = say('As JSON: its schema describes no fields, or more than a form holds.', 'dim');
const WAY_BACK = say('As JSON: Ctrl-E goes back to the fields.', 'dim');

/** JSON written by hand: the lines around the cursor. */
export function rawRows(
  { raw, focus, root }: Form,
  { columns, rows }: Size,
  theme: Theme,
): readonly string[] {
  const head = dressLine(cutLine([isFillable(root) ? WAY_BACK : NO_WAY_BACK], columns), theme);
  const height = Math.max(0, rows - 1);
  const lines = raw.text.split('\n');
  const at = raw.text.slice(0, raw.cursor).split('\n').length - 1;
  const from = Math.max(0, Math.min(at - Math.floor(height / 2), lines.length - height));
  const column = raw.cursor - lineStart(raw);
  const seen = lines.slice(from, from + height).map((text, index) => {
    const isTyped = from + index === at && focus === 0;
    return dressLine(
      isTyped ? typedLine({ text, cursor: column }, columns) : quietLine(text, columns),
      theme,
    );
  });
  return [head, ...seen].slice(0, rows);
}
