import { Box, type BoxProps } from 'ink';
import type { ReactNode } from 'react';
import { type Line as Spans, say } from '../../render/line.js';
import { cutLine } from '../../render/terminal/fit.js';
import { Line } from './Line.js';

interface PanelProps extends BoxProps {
  /** The title in the upper edge; null without an edge. */
  readonly title: Spans | null;
  /** In cells, without edges. */
  readonly columns: number;
  /** There is another panel to the left. */
  readonly isBeside?: boolean;
  readonly children: ReactNode;
}

/** Rules above, with a title, and at the left; they go on to those of the panels beside it. */
const EDGES = {
  top: '─',
  left: '│',
  topLeft: '┬',
  topRight: '',
  right: '',
  bottomLeft: '',
  bottom: '',
  bottomRight: '',
};

const TITLE_MARGIN = 8;

const BLANK = say(' ');

export function Panel({ title, columns, isBeside = false, children, ...box }: PanelProps) {
  return (
    <Box
      key={`${title === null} ${isBeside}`} // Ink does not take an edge away again
      flexDirection="column"
      borderStyle={EDGES}
      borderDimColor
      borderTop={title !== null}
      borderLeft={isBeside}
      borderRight={false}
      borderBottom={false}
      paddingLeft={isBeside ? 1 : 0}
      {...box}
    >
      {title !== null && title.length > 0 && (
        <Box marginTop={-1} marginLeft={isBeside ? 1 : 2} flexShrink={0}>
          <Line
            line={[BLANK, ...cutLine(title, Math.max(0, columns - TITLE_MARGIN)), BLANK]}
            width={columns}
          />
        </Box>
      )}
      {children}
    </Box>
  );
}
