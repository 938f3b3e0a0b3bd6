import { halvesOf, type Line, partsOfHalf, type Span, withHalves } from '../line.js';
import { cellsOf, widthOfCharacter } from './cells.js';
import { cutLine, widthOf } from './fit.js';
import { withoutCommands } from './theme.js';
import { halfWidths } from './wrap.js';

/** An unwrapped line, scrolled in an area of `width` cells; the gutter of each half stays. */
export function scrolled(line: Line, width: number) {
  const rooms = roomsOf(line, width);
  return {
    at(left: number): Line {
      return withHalves(line, (half, index) => {
        const { gutter, body } = partsOfHalf(half);
        const room = (rooms[index] ?? 0) - widthOf(gutter);
        return room > 0 ? [...gutter, ...slid(body, left, room)] : cutLine(gutter, rooms[index] ?? 0);
      });
    },
    goesOn: (left: number): boolean =>
      halvesOf(line).halves.some((half, index) => widthOf(half) - left > (rooms[index] ?? 0)),
    /** The scroll position that makes the cells `from` … `to` of one half, after its gutter, visible. */
    toShow(half: number, { from, to }: { readonly from: number; readonly to: number }, left: number): number {
      const { gutter } = partsOfHalf(halvesOf(line).halves[half] ?? []);
      const room = (rooms[half] ?? 0) - widthOf(gutter);
      return from >= left && to - left < room ? left : Math.max(0, from - Math.floor(room / 2));
    },
  };
}

function roomsOf(line: Line, width: number): readonly number[] {
  const { divider } = halvesOf(line);
  return divider ? halfWidths(width, cellsOf(divider.text)) : [width];
}

function slid(body: Line, left: number, room: number): Line {
  const seen: Span[] = [];
  let cells = -left;
  const place = (character: string) => {
    const before = cells;
    cells += widthOfCharacter(character);
    if (before >= 0) return before === 0 && cells === 0 && left > 0 ? '' : character;
    // A wide character that is half scrolled out becomes a blank.
    return ' '.repeat(Math.max(0, cells));
  };
  for (const span of body) {
    let text = '';
    for (const character of span.text) {
      text += place(character);
      if (cells > room) break;
    }
    seen.push({ ...span, text });
    if (cells > room) break;
  }
  return cutLine(withoutCommands(seen), room);
}
