import type { Line, Span } from '../story/line.js';
import { widthOfCharacter } from './break-clusters.js';
import { cellsOf } from './cells.js';

const ELLIPSIS = '…';

/** A line cut to `width` cells: what does not fit is an ellipsis, in the tone of what it stands for. */
export function cutLine(line: Line, width: number): Line {
  if (widthOf(line) <= width) return line;
  const kept: Span[] = [];
  let left = width - 1;
  for (const span of line) {
    const fitting = startOf(span.text, left);
    left -= cellsOf(fitting);
    kept.push(fitting === span.text ? span : { ...span, text: fitting + ELLIPSIS });
    if (fitting !== span.text) break;
  }
  return width < 1 ? [] : kept;
}

/** A line as wide as `width`: cut, or filled up with blanks. */
export function fitLine(line: Line, width: number): Line {
  const cut = cutLine(line, width);
  const missing = width - widthOf(cut);
  return missing > 0 ? [...cut, { text: ' '.repeat(missing), tone: 'plain' }] : cut;
}

/** Cells. */
export function widthOf(line: Line): number {
  return cellsOf(line.map(({ text }) => text).join(''));
}

/** As many characters as fit, counted one by one: that is never too few cells, whatever clusters they form. */
function startOf(text: string, width: number): string {
  let cells = 0;
  let end = 0;
  for (const character of text) {
    cells += widthOfCharacter(character);
    if (cells > width) return text.slice(0, end);
    end += character.length;
  }
  return text;
}
