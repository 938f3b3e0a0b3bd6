import { dressLine, wrapLine } from '../../../../dress/dress.js';
import type { Theme } from '../../../../dress/theme.js';
import type { SchemaFault } from '../../../../json-schema/fault.js';
import { quote, say } from '../../../../story/spans.js';
import { cut } from '../../../../text/cut.js';
import { faultText } from '../faults.js';
import type { Row } from '../stops.js';

/** Of one field; the alternatives of an `anyOf` bring many, and none says much alone. */
const MOST = 3;
const LONGEST = 300;

export type Placed = ReadonlyMap<Row | undefined, readonly SchemaFault[]>;

/** What is wrong with a field, below it; with no field, at the top. */
export function faultRows(
  row: Row | undefined,
  placed: Placed,
  columns: number,
  theme: Theme,
): readonly string[] {
  const faults = placed.get(row) ?? [];
  const indent = row ? ' '.repeat(4) : '  ';
  const told = faults.slice(0, MOST).flatMap(fault => {
    const words = quote(cut(faultText(row, fault), LONGEST), 'bad');
    return wrapLine([{ text: `${indent}✗ `, tone: 'gutter' }, ...words], columns, theme).slice(0, MOST);
  });
  const more = faults.length - MOST;
  return more > 0 ? [...told, dressLine([say(`${indent}  and ${more} more`, 'bad')], theme)] : told;
}
