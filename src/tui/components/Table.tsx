import { Box } from 'ink';
import { type Line as Spans, say } from '../../render/line.js';
import { fitLine } from '../../render/terminal/fit.js';
import type { Size } from '../tty.js';
import { Line } from './Line.js';

interface TableProps {
  /** Above the rows; null without one. */
  readonly head: Spans | null;
  /**
   * The visible rows. The caller chooses them (ink-virtual-list would), because the widths of the columns depend on them.
   */
  readonly rows: readonly Spans[];
  /** The index of the row with the focus; null if the list does not have the focus. */
  readonly focused: number | null;
  readonly size: Size;
}

/** The row with the focus is a bar over the whole width. */
export function Table({ head, rows, focused, size: { columns, rows: height } }: TableProps) {
  const bar = (row: Spans) => fitLine(row, columns).map(({ text }) => say(text, 'selected'));
  return (
    <Box flexDirection="column" flexShrink={0} height={height}>
      {head && <Line line={head} width={columns} />}
      {rows.map((row, index) => (
        <Line key={String(index)} line={index === focused ? bar(row) : row} width={columns} />
      ))}
    </Box>
  );
}
