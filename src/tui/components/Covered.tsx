import { Box } from 'ink';
import type { ReactNode } from 'react';
import type { KeyTable } from '../keys.js';
import { pageRows, pageWindow, type ScreenLayout } from '../screen/layout.js';
import { pageLines } from '../screen/page.js';
import type { Overlay } from '../screen/state.js';
import { Help } from './Help.js';
import { Line, Lines } from './Line.js';

interface CoveredProps {
  readonly overlay: Overlay<unknown> | null;
  readonly layout: ScreenLayout;
  readonly helpTables: () => readonly KeyTable[];
  /** The body of the screen. */
  readonly children: ReactNode;
}

/** The page that covers the body of the screen, or the body. */
export function Covered({ overlay, layout, helpTables, children }: CoveredProps) {
  const { room, isRoomy } = layout;
  if (overlay?.kind === 'help')
    return (
      <Box marginTop={isRoomy ? 1 : 0}>
        <Help
          tables={helpTables()}
          filter={overlay.filter?.text ?? ''}
          scroll={overlay.scroll}
          size={{ columns: room.columns, rows: pageRows(layout, false) }}
        />
      </Box>
    );
  if (overlay?.kind === 'page') {
    const rows = pageRows(layout, true);
    const seen = pageWindow(pageLines(overlay.page, room.columns), overlay.scroll, rows);
    return (
      <Box flexDirection="column" marginTop={isRoomy ? 1 : 0} rowGap={1}>
        <Line line={overlay.page.title} width={room.columns} />
        <Lines lines={seen} width={room.columns} height={rows} />
      </Box>
    );
  }
  return children;
}
