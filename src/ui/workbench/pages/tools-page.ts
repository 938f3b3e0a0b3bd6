import { cutLine } from '../../../dress/cut-line.js';
import { dressLine } from '../../../dress/dress.js';
import type { Theme } from '../../../dress/theme.js';
import type { Line } from '../../../story/line.js';
import { say } from '../../../story/spans.js';
import { reading, wrapLines } from '../../scrolled-rows.js';
import { filled, firstSeen, joined, splitOf } from '../../split.js';
import type { Size } from '../../terminal.js';
import type { Entry } from '../state/entries.js';
import { entryLine } from './entry-line.js';
import type { ToolDetails } from './tool-details.js';

const SHARES = { wide: 100, share: 0.38 };

const EMPTY: readonly Line[] = [
  [say('No servers yet.')],
  [
    say('u', 'title'),
    say(' opens one by its URL; ', 'dim'),
    say('demo', 'title'),
    say(' there is the tool bundled with this program.', 'dim'),
  ],
];

export interface ToolsScene {
  readonly entries: readonly Entry[];
  readonly selected: number;
  /** Pages of the details that are above. */
  readonly scroll: number;
}

/** What can be called, and what is told of the selected operation. */
export function toolsPage(
  { entries, selected, scroll }: ToolsScene,
  size: Size,
  { theme, details }: { readonly theme: Theme; readonly details: ToolDetails },
): readonly string[] {
  if (entries.length === 0) return filled(wrapLines(EMPTY, size.columns, theme), size.rows);
  const shares = { ...SHARES, wanted: entries.length };
  const told = details.rowsOf(entries[selected], splitOf(size, shares).details.columns);
  const split = splitOf(size, { ...shares, told: told.length });
  const { rows: seen } = reading(
    told,
    scroll * Math.max(1, split.details.rows - 1),
    split.details.rows,
    theme,
  );
  const list = listed(entries, selected, split.list.rows);
  const rows = list.map(line => dressLine(cutLine(line, split.list.columns), theme));
  return joined(split, [rows, seen], theme);
}

/** Those that there is room for, and how many there are besides. */
function listed(entries: readonly Entry[], selected: number, rows: number): readonly Line[] {
  const isCut = entries.length > rows && rows > 1;
  const room = isCut ? rows - 1 : rows;
  const above = firstSeen(entries.length, selected, room);
  const lines = entries
    .slice(above, above + room)
    .map((entry, index) => entryLine(entry, above + index === selected));
  return isCut ? [...lines, moreLine(above, entries.length - above - room)] : lines;
}

function moreLine(above: number, below: number): Line {
  const places = [
    ...(above > 0 ? [`${above} more above`] : []),
    ...(below > 0 ? [`${below} more below`] : []),
  ];
  return [say(`… ${places.join(', ')}`, 'dim')];
}
