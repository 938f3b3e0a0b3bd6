import { Box, Text } from 'ink';
import { useSyncExternalStore } from 'react';
import type { Theme } from '../../dress/theme.js';
import { type Frame, frameOf, GAP } from './frame.js';
import type { LiveStore } from './store.js';

/** The live view: what has happened so far, then what the human sees beside what the LLM gets. */
export function App({ store, theme }: { readonly store: LiveStore; readonly theme: Theme }) {
  const { scene, size } = useSyncExternalStore(store.subscribe, store.snapshot);
  const { steps, panes } = frameOf(scene, size, theme);
  return (
    <Box flexDirection="column">
      <Rows rows={steps} />
      {panes && <BothPanes {...panes} />}
    </Box>
  );
}

function BothPanes({ isSideBySide, width, human, llm }: NonNullable<Frame['panes']>) {
  return (
    <Box flexDirection={isSideBySide ? 'row' : 'column'} gap={isSideBySide ? GAP : 1} marginTop={1}>
      <Box flexDirection="column" width={width}>
        <Rows rows={human} />
      </Box>
      <Box flexDirection="column" width={width}>
        <Rows rows={llm} />
      </Box>
    </Box>
  );
}

/** Rows are cut to their width already; an empty one still takes its place. */
function Rows({ rows }: { readonly rows: readonly string[] }) {
  return <Text wrap="truncate">{rows.map(row => row || ' ').join('\n')}</Text>;
}
