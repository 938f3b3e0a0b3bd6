import type { Line, Span } from '../story/line.js';
import { halvesOf, partsOfHalf, withHalves } from '../story/line-parts.js';
import { widthOfCharacter } from './break-clusters.js';
import { cellsOf } from './cells.js';
import { halfWidths } from './columns.js';
import { cutLine, widthOf } from './cut-line.js';

/** A line that is not wrapped, scrolled by `left` cells: what stands up to the last gutter span of a half stays. */
export function slideLine(line: Line, left: number, width: number): Line {
  const rooms = roomsOf(line, width);
  return withHalves(line, (half, index) => {
    const { gutter, body } = partsOfHalf(half);
    const room = (rooms[index] ?? 0) - widthOf(gutter);
    return room > 0 ? [...gutter, ...slid(body, left, room)] : cutLine(gutter, rooms[index] ?? 0);
  });
}

/** Whether there is more of a line to the right. */
export function goesOnBeyond(line: Line, left: number, width: number): boolean {
  const rooms = roomsOf(line, width);
  return halvesOf(line).halves.some((half, index) => widthOf(half) - left > (rooms[index] ?? 0));
}

/** How far a line is to be scrolled so that the cells `from` … `to` of one of its halves, past its gutter, are seen. */
export function slideTo(line: Line, half: number, cells: Cells, left: number, width: number): number {
  const gutter = partsOfHalf(halvesOf(line).halves[half] ?? []).gutter;
  const room = (roomsOf(line, width)[half] ?? 0) - widthOf(gutter);
  const isSeen = cells.from >= left && cells.to - left < room;
  return isSeen ? left : Math.max(0, cells.from - Math.floor(room / 2));
}

export interface Cells {
  readonly from: number;
  readonly to: number;
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
    // Of a wide character that is half away, a blank stays.
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
  return cutLine(seen, room);
}
