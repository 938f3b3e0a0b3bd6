import measured from 'string-width';
import { cellsOf } from '../src/render/terminal/cells.ts';

/** What Ink and its wrapping measure with, see `OUR_WIDTHS`. Without colours in it, no option makes a difference. */
export default function stringWidth(text, options) {
  return options && text.includes('\u001B') ? measured(text, options) : cellsOf(text);
}
