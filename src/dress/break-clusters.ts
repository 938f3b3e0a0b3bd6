import type { Line } from '../story/line.js';
import { cellsOf } from './cells.js';

/** Alone it has no width; around a digit it makes both wide. */
const KEYCAP = '\u20E3';

/**
 * One letter under fifty marks can be wider than a row, and no wrapping takes it apart; left whole, it would break the layout.
 * Here every row is filled character by character, and ends in a line feed.
 */
export function breakClusters(line: Line, width: number): Line {
  let cells = 0;
  const place = (character: string) => {
    const own = widthOfCharacter(character);
    const fits = cells + own <= width;
    cells = fits ? cells + own : own;
    return fits ? character : `\n${character}`;
  };
  return line.map(span => ({ ...span, text: Array.from(span.text, place).join('') }));
}

/** Cells of one character that stands by itself; characters that form one cluster never take more together. */
export function widthOfCharacter(character: string): number {
  return character === KEYCAP ? 1 : cellsOf(character);
}
