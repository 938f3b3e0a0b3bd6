import { dressLine, wrapLine } from '../../../../dress/dress.js';
import type { Theme } from '../../../../dress/theme.js';
import type { SchemaFault } from '../../../../json-schema/fault.js';
import type { Span, Tone } from '../../../../story/line.js';
import { quote, say } from '../../../../story/spans.js';
import { cut } from '../../../../text/cut.js';
import { faultText } from '../faults.js';
import { remarkOn } from '../remark.js';
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
  const mark = say(`${indent}✗ `, 'gutter');
  const told = faults
    .slice(0, MOST)
    .flatMap(fault => toldRows(mark, faultText(row, fault), 'bad', columns, theme));
  const more = faults.length - MOST;
  return more > 0 ? [...told, dressLine([say(`${indent}  and ${more} more`, 'bad')], theme)] : told;
}

/** What strikes one about a field, below it: whoever is in it may not have come to its end. */
export function remarkRows({ kind, child }: Row, columns: number, theme: Theme): readonly string[] {
  const remark = kind === 'field' ? remarkOn(child.field) : null;
  return remark === null ? [] : toldRows(say('    • ', 'gutter'), remark, 'warn', columns, theme);
}

function toldRows(mark: Span, words: string, tone: Tone, columns: number, theme: Theme): readonly string[] {
  return wrapLine([mark, ...quote(cut(words, LONGEST), tone)], columns, theme).slice(0, MOST);
}
