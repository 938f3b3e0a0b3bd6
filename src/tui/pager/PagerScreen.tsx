import { Box, Text } from 'ink';
import { Line } from '../components/Line.js';
import { mountFullScreen } from '../FullScreen.js';
import type { Frames } from '../full-screen.js';
import type { Terminal } from '../terminal.js';
import type { Pager } from './pager.js';

/** The visible rows of a long text, which are the same as when it is printed. */
function PagerScreen({ pager }: { readonly pager: Pager }) {
  return (
    <Box flexDirection="column" height={pager.size().rows - 1}>
      <Box flexGrow={1}>
        <Text wrap="truncate">{pager.rows().join('\n')}</Text>
      </Box>
      <Line line={pager.footer()} width={pager.size().columns} />
    </Box>
  );
}

export function mountPager(pager: Pager, frames: Frames, terminal: Terminal) {
  return mountFullScreen(() => <PagerScreen pager={pager} />, frames, terminal);
}
