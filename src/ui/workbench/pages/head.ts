import { cutLine, widthOf } from '../../../dress/cut-line.js';
import type { Line } from '../../../story/line.js';
import { quote, say } from '../../../story/spans.js';
import { type Choosable, chosenLine } from '../../chosen-line.js';

interface Page extends Choosable {
  /** Its beginning says enough, where there is no room for all of it. */
  readonly isName?: true;
}

/** What stands in the first row. */
export interface Heading {
  readonly pages: readonly Page[];
  /** What is looked at, at the right. */
  readonly about: string;
}

const PROGRAM: Line = [say('protocol-cli  ', 'dim')];
/** Cells of what is looked at, below which it says nothing. */
const LEAST_ABOUT = 12;
/** Cells of the name of a page, below which it says nothing. */
const LEAST_NAME = 7;

/** The pages, all of them, and what is looked at as far as there is room for it: long names make room first. */
export function headLine({ pages, about }: Heading, columns: number): Line {
  const looked = quote(about, 'dim');
  const line = pagesLine(pages, columns - Math.min(LEAST_ABOUT, widthOf(looked)) - 2, columns);
  const room = columns - widthOf(line) - 2;
  if (room < Math.min(LEAST_ABOUT, widthOf(looked))) return line;
  const right = cutLine(looked, room);
  return [...line, say(' '.repeat(columns - widthOf(line) - widthOf(right))), ...right];
}

/** @param room beside what is looked at; `columns` without it */
function pagesLine(pages: readonly Page[], room: number, columns: number): Line {
  const bare = chosenLine(shortened(pages, room));
  const named = [...PROGRAM, ...chosenLine(shortened(pages, room - widthOf(PROGRAM)))];
  return (
    [named, bare].find(line => widthOf(line) <= room) ??
    cutLine(chosenLine(shortened(pages, columns)), columns)
  );
}

/** What is too much is taken from a name. */
function shortened(pages: readonly Page[], room: number): readonly Choosable[] {
  const surplus = widthOf(chosenLine(pages)) - room;
  if (surplus <= 0) return pages;
  return pages.map(page => (page.isName ? { ...page, most: lessBy(surplus, page) } : page));
}

function lessBy(surplus: number, { text }: Page): number {
  return Math.max(LEAST_NAME, widthOf(quote(text)) - surplus);
}
