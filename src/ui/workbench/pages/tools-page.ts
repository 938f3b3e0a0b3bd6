import { cutLine } from '../../../dress/cut-line.js';
import { dressLine } from '../../../dress/dress.js';
import type { Theme } from '../../../dress/theme.js';
import type { Line } from '../../../story/line.js';
import { quote, say } from '../../../story/spans.js';
import { reading, wrapLines } from '../../scrolled-rows.js';
import { filled, firstSeen, joined, splitOf } from '../../split.js';
import type { Size } from '../../terminal.js';
import { firstLineOf } from '../first-line.js';
import type { Entry } from '../state/entries.js';
import type { ToolDetails } from './tool-details.js';

const SHARES = { wide: 100, share: 0.38 };
const CURSOR = '❯ ';

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
  const split = splitOf(size, { ...SHARES, wanted: entries.length });
  const { columns, rows } = split.list;
  const from = firstSeen(entries.length, selected, rows);
  const list = entries
    .slice(from, from + rows)
    .map((entry, index) => dressLine(cutLine(entryLine(entry, from + index === selected), columns), theme));
  const told = details.rowsOf(entries[selected], split.details.columns);
  const { rows: seen } = reading(
    told,
    scroll * Math.max(1, split.details.rows - 1),
    split.details.rows,
    theme,
  );
  return joined(split, [list, seen], theme);
}

function entryLine(entry: Entry, isSelected: boolean): Line {
  const cursor = say(isSelected ? CURSOR : ' '.repeat(CURSOR.length), 'running');
  if (entry.kind === 'server') return [cursor, ...serverLine(entry.server)];
  const { name, annotations = {}, description } = entry.tool;
  const mark = [
    ...(entry.rivals > 1 ? [say(` ⚠ in ${entry.rivals} toolsets`, 'bad')] : []),
    ...(annotations.destructive ? [say(' ⚠ destructive', 'bad')] : []),
  ];
  return [
    cursor,
    say('  '),
    ...quote(name, isSelected ? 'title' : 'plain'),
    ...mark,
    say('  '),
    ...quote(firstLineOf(description), 'dim'),
  ];
}

/** A message that names the server does not do so twice. */
function failedLine(about: string, message: string): Line {
  const reason = message.split(': ').filter(piece => !piece.includes(about));
  if (reason.length === 0) return [say('✗ ', 'bad'), ...quote(message, 'bad')];
  return [...quote(about, 'title'), say('  ✗ ', 'bad'), ...quote(reason.join(': '), 'bad')];
}

function serverLine({ about, state }: Extract<Entry, { kind: 'server' }>['server']): Line {
  switch (state.kind) {
    case 'loading':
      return [...quote(about, 'title'), say('  loading …', 'running')];
    case 'asleep':
      return [...quote(about, 'title'), say('  not started: ⏎ starts it', 'warn')];
    case 'failed':
      return failedLine(about, state.message);
    case 'ready':
      return [
        ...quote(state.toolset.name, 'title'),
        ...(about === state.toolset.name ? [] : [say('  '), ...quote(about, 'dim')]),
      ];
  }
}
