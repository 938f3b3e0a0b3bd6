import { Box, Text, useInput } from 'ink';
import { useSyncExternalStore } from 'react';
import { GAP } from '../../dress/pane-layout.js';
import type { Theme } from '../../dress/theme.js';
import { type Frame, frameOf } from './frame.js';
import { type Command, commandsOf } from './keys.js';
import type { LiveStore } from './store.js';

interface Props {
  readonly store: LiveStore;
  readonly theme: Theme;
  readonly onCommand: (command: Command) => void;
}

/** The live view: what has happened so far, then what the human sees beside what the LLM gets, or what a person is asked. */
export function App({ store, theme, onCommand }: Props) {
  const { scene, size, takesKeys } = useSyncExternalStore(store.subscribe, store.snapshot);
  useInput(
    (input, key) => {
      for (const command of commandsOf(input, key)) onCommand(command);
    },
    { isActive: takesKeys },
  );
  const { steps, views, panes, picker } = frameOf(scene, size, theme);
  return (
    <Box flexDirection="column" rowGap={1}>
      <Rows rows={steps} />
      <Rows rows={views} />
      {panes && <BothPanes {...panes} />}
      <Rows rows={picker} />
    </Box>
  );
}

function BothPanes({ isSideBySide, width, human, llm }: NonNullable<Frame['panes']>) {
  const shown = Object.entries({ human, llm }).filter(([, rows]) => rows.length > 0);
  if (shown.length === 0) return null;
  return (
    <Box flexDirection={isSideBySide ? 'row' : 'column'} gap={isSideBySide ? GAP : 1}>
      {shown.map(([name, rows]) => (
        <Box key={name} flexDirection="column" width={width}>
          <Rows rows={rows} />
        </Box>
      ))}
    </Box>
  );
}

/** Rows are cut to their width already; an empty one still takes its place. */
function Rows({ rows }: { readonly rows: readonly string[] }) {
  if (rows.length === 0) return null;
  return <Text wrap="truncate">{rows.map(row => row || ' ').join('\n')}</Text>;
}
