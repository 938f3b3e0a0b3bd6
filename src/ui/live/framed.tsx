import { Box, type Key, Text } from 'ink';
import { useCallback } from 'react';
import { GAP } from '../../dress/pane-layout.js';
import { useKeys } from '../keys/use-keys.js';
import type { Frame } from './frame.js';
import { type Command, commandsOf } from './keys.js';

interface Props {
  readonly frame: Frame;
  readonly takesKeys: boolean;
  readonly onCommand: (command: Command) => void;
}

/** A frame, its blocks one below the other; keys to whoever listens, while something can be pressed. */
export function Framed({ frame, takesKeys, onCommand }: Props) {
  const onPress = useCallback(
    (input: string, key: Key) => {
      for (const command of commandsOf(input, key)) onCommand(command);
    },
    [onCommand],
  );
  useKeys(onPress, takesKeys);
  const { steps, views, panes, picker } = frame;
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
