import stringWidth from 'string-width';
import type { Line } from '../story/line.js';

/** Alone it has no width; around a digit it makes both wide. */
const KEYCAP = '\u20E3';

/**
 * One letter under fifty marks can be wider than a row, and no wrapping takes it apart; left whole, it would break the layout.
 * Here every row is filled character by character, and ends in a line feed.
 */
export function breakClusters(line: Line, width: number): Line {
  let cells = 0;
  const place = (character: string) => {
    const own = character === KEYCAP ? 1 : stringWidth(character);
    const fits = cells + own <= width;
    cells = fits ? cells + own : own;
    return fits ? character : `\n${character}`;
  };
  return line.map(({ text, tone }) => ({ text: Array.from(text, place).join(''), tone }));
}
