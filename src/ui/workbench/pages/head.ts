import { cutLine, widthOf } from '../../../dress/cut-line.js';
import type { Line } from '../../../story/line.js';
import { quote, say } from '../../../story/spans.js';
import { type Choosable, chosenLine } from '../../chosen-line.js';

/** What stands in the first row. */
export interface Heading {
  readonly pages: readonly Choosable[];
  /** What is looked at, at the right. */
  readonly about: string;
}

/** The pages, and what is looked at where there is room for it. */
export function headLine({ pages, about }: Heading, columns: number): Line {
  const line: Line = [say('protocol-cli  ', 'dim'), ...chosenLine(pages)];
  const room = columns - widthOf(line) - 2;
  if (room < 8) return cutLine(line, columns);
  const right = cutLine(quote(about, 'dim'), room);
  return [...line, say(' '.repeat(columns - widthOf(line) - widthOf(right))), ...right];
}
