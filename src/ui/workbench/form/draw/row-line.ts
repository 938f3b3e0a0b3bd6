import { cutLine, fitLine, widthOf } from '../../../../dress/cut-line.js';
import type { Line } from '../../../../story/line.js';
import { quote, say } from '../../../../story/spans.js';
import { cut } from '../../../../text/cut.js';
import type { Row } from '../stops.js';
import { typeWord, variantWord } from '../words.js';
import { valueLine } from './value-line.js';

/** How wide the columns of all rows are, in cells. */
export interface Grid {
  readonly columns: number;
  readonly label: number;
}

export const MARK = '❯ ';
const GAP = 2;
/** Below this a value has no room beside its type. */
const NARROW = 60;
const LONGEST_LABEL = 60;

/** Labels as wide as the widest, up to a third of the row. */
export function gridOf(rows: readonly Row[], columns: number): Grid {
  const widest = rows.reduce((most, row) => Math.max(most, widthOf(labelOf(row, columns))), 0);
  return { columns, label: Math.max(4, Math.min(widest, Math.floor((columns - MARK.length) / 3))) };
}

/** A field on one row: its name, what is in it, what it takes. `cursor` is null unless it is in focus. */
export function rowLine(row: Row, cursor: number | null, grid: Grid): Line {
  const isFocused = cursor !== null;
  const mark = say(isFocused ? MARK : ' '.repeat(MARK.length), 'running');
  const type = grid.columns < NARROW ? [] : typeLine(row, Math.floor(grid.columns / 4));
  const room = grid.columns - MARK.length - grid.label - GAP - (type.length > 0 ? widthOf(type) + GAP : 0);
  const label = fitLine(labelOf(row, grid.label, isFocused), grid.label);
  const value = fitLine(valueLine(row, cursor, Math.max(1, room)), Math.max(1, room));
  const tail = type.length > 0 ? [say(' '.repeat(GAP)), ...type] : [];
  return cutLine([mark, ...label, say(' '.repeat(GAP)), ...value, ...tail], grid.columns);
}

/** A name is cut; that it is required is seen all the same. */
function labelOf({ kind, depth, child, address }: Row, width: number, isFocused = false): Line {
  const indent = say('  '.repeat(depth));
  if (kind === 'add') return [indent, say('+ add', isFocused ? 'running' : 'dim')];
  const own = child.key ?? (address.length === 0 ? 'arguments' : variantWord(child.field.schema));
  const name = quote(cut(String(own), LONGEST_LABEL), isFocused ? 'title' : 'plain');
  const star = child.isRequired && !child.isExtra && child.key !== null ? [say('*', 'warn')] : [];
  return [...cutLine([indent, ...name], width - star.length), ...star];
}

function typeLine({ kind, child }: Row, width: number): Line {
  return kind === 'add' ? [] : cutLine(quote(typeWord(child.field), 'dim'), width);
}
