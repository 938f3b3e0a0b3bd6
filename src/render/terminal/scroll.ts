import { halvesOf, type Line, partsOfHalf, type Span, withHalves } from '../line.js';
import { cellsOf, widthOfCharacter } from './cells.js';
import { cutLine, widthOf } from './fit.js';
import { withoutCommands } from './theme.js';
import { halfWidths } from './wrap.js';

/** An unwrapped line in an area of `width` cells, scrolled by `left` cells; the gutter of each half stays. */
export function scrolledLine(line: Line, width: number, left: number): Line {
  const widths = widthsOfHalves(line, width);
  return withHalves(line, (half, index) => {
    const { gutter, body } = partsOfHalf(half);
    const own = widths[index] ?? 0;
    const room = own - widthOf(gutter);
    return room > 0 ? [...gutter, ...visibleCells(body, left, room)] : cutLine(gutter, own);
  });
}

/** Whether a half of the line goes on to the right of the area. */
export function isCutOff(line: Line, width: number, left: number): boolean {
  const widths = widthsOfHalves(line, width);
  return halvesOf(line).halves.some((half, index) => widthOf(half) - left > (widths[index] ?? 0));
}

interface Cells {
  readonly from: number;
  readonly to: number;
}

/** The scroll position that makes these cells of a half, counted after its gutter, visible; `left` if they are already. */
export function scrollTo(line: Line, width: number, half: number, { from, to }: Cells, left: number): number {
  const { gutter } = partsOfHalf(halvesOf(line).halves[half] ?? []);
  const room = (widthsOfHalves(line, width)[half] ?? 0) - widthOf(gutter);
  return from >= left && to - left < room ? left : Math.max(0, from - Math.floor(room / 2));
}

function widthsOfHalves(line: Line, width: number): readonly number[] {
  const { divider } = halvesOf(line);
  return divider ? halfWidths(width, cellsOf(divider.text)) : [width];
}

/** The part of a text between the cells `left` and `left + room`. */
function visibleCells(body: Line, left: number, room: number): Line {
  const visible: Span[] = [];
  let end = -left; // where the latest character ends, relative to the area
  const visiblePart = (character: string): string => {
    const start = end;
    end += widthOfCharacter(character);
    if (start < 0) return ' '.repeat(Math.max(0, end)); // half of a wide character becomes a blank
    const isMarkOfHidden = left > 0 && start === 0 && end === 0; // a combining mark, whose character was scrolled out
    return isMarkOfHidden ? '' : character;
  };
  for (const span of body) {
    let text = '';
    for (const character of span.text) {
      text += visiblePart(character);
      if (end > room) break;
    }
    visible.push({ ...span, text });
    if (end > room) break;
  }
  return cutLine(withoutCommands(visible), room);
}
