import { Box, Text } from 'ink';
import { Line } from '../components/Line.js';
import type { Draw } from '../FullScreen.js';
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

export function drawPager(pager: Pager): Draw {
  return () => <PagerScreen pager={pager} />;
}
