import { type Line, lineText, type Span } from '../line.js';
import { cellsOf, widthOfCharacter } from './cells.js';

export function widthOf(line: Line): number {
  return cellsOf(lineText(line));
}

const ELLIPSIS = '…';

/** Cuts a line to `width` cells; an ellipsis replaces the rest, in its tone. */
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

/** The longest beginning of a text that fits. Characters are measured one by one: their clusters are never wider. */
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

export function fitLine(line: Line, width: number): Line {
  const cut = cutLine(line, width);
  const missing = width - widthOf(cut);
  return missing > 0 ? [...cut, { text: ' '.repeat(missing), tone: 'plain' }] : cut;
}

/** Cuts to `max` rows; the last one shows how many are hidden. */
export function fitRows<Row>(rows: readonly Row[], max: number, moreLabel: (count: number) => Row): Row[] {
  if (rows.length <= max) return [...rows];
  if (max <= 0) return [];
  return [...rows.slice(0, max - 1), moreLabel(rows.length - max + 1)];
}
