import { Box } from 'ink';
import { useCallback, useEffect, useMemo, useSyncExternalStore } from 'react';
import type { Line } from '../../render/line.js';
import { Lines } from '../components/Line.js';
import { Picker } from '../components/Picker.js';
import { type Press, pressesIn } from '../keys.js';
import { useKeys } from '../use-keys.js';
import type { Live } from './effects.js';
import { EMPTY_FRAME, type Frame } from './frame.js';
import { type LiveState, subjectOf } from './state.js';

interface LiveAppProps {
  readonly live: Live;
  readonly frame: (state: LiveState) => Frame;
}

/**
 * Draws the state, and handles keys while there is something to answer. At other times the terminal is not in raw mode, and typed text
 * stays for the shell.
 */
export function LiveApp({ live, frame }: LiveAppProps) {
  const state = useSyncExternalStore(live.subscribe, live.state);
  const subject = subjectOf(state);
  const onPress = useCallback(
    (press: Press) => {
      const names = pressesIn(press).map(({ name }) => name);
      // Of several Ctrl-C that arrive at once only one counts: a second one would force the exit.
      for (const [index, name] of names.entries())
        if (name !== 'ctrl+c' || names.indexOf(name) === index) live.press(name);
    },
    [live],
  );
  useKeys(onPress, subject !== null);
  useEffect(() => {
    const reading = setImmediate(live.drawn, subject); // in raw mode, waiting input is read before it runs
    return () => clearImmediate(reading);
  }, [live, subject]);
  const shown = useMemo(() => (state.isAside ? EMPTY_FRAME : frame(state)), [frame, state]);
  return <LiveView {...shown} />;
}

/** The blocks of a frame, stacked, with a blank row between them. */
export function LiveView({ columns, steps, views, panes, question }: Frame) {
  return (
    <Box flexDirection="column" rowGap={1}>
      <Lines lines={steps} width={columns} />
      <Lines lines={views} width={columns} />
      {panes && <Panes {...panes} />}
      {question && <Picker {...question} />}
    </Box>
  );
}

function Panes({ isSideBySide, width, gap, human, llm }: NonNullable<Frame['panes']>) {
  if (human.length + llm.length === 0) return null;
  return (
    <Box flexDirection={isSideBySide ? 'row' : 'column'} gap={gap}>
      <Pane lines={human} width={width} />
      <Pane lines={llm} width={width} />
    </Box>
  );
}

interface PaneProps {
  readonly lines: readonly Line[];
  readonly width: number;
}

function Pane({ lines, width }: PaneProps) {
  if (lines.length === 0) return null;
  return (
    <Box width={width} flexShrink={0}>
      <Lines lines={lines} width={width} />
    </Box>
  );
}
