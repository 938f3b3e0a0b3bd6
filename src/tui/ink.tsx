import { Box, type BoxProps, render, Text, useStdin } from 'ink';
import {
  createContext,
  type ReactElement,
  type ReactNode,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useSyncExternalStore,
} from 'react';
import { beforeForcedEnd } from '../system/process.js';
import { type Press, readSequence } from './keys.js';
import type { Size, Store, Terminal } from './terminal.js';

/** The visible parts of a screen. Rows are styled and cut to the width of their part; Ink lays the parts out. */
export interface Frame {
  readonly header: readonly string[];
  /** Rows over the whole width, or panes. */
  readonly body: readonly string[] | Panes;
  /** A question to the user. */
  readonly question?: readonly string[];
  readonly notices?: readonly string[];
  readonly footer?: string;
  /** Styles the lines around the parts. */
  readonly edge?: (line: string) => string;
  /** The frame changes as time passes. */
  readonly isRunning: boolean;
}

/** A list and its details, side by side or stacked; a part without room has no rows. */
export interface Panes {
  readonly isBeside: boolean;
  readonly list: Pane & { readonly rows: readonly string[] };
  readonly details: Pane & DrawnSheet & { readonly tabs: readonly string[] };
}

interface Pane {
  /** The title in the upper edge; null without an edge. */
  readonly title: string | null;
  /** The size without edges. */
  readonly size: Size;
}

/** The visible parts of a sheet, side by side or stacked. */
export interface DrawnSheet {
  readonly isBeside: boolean;
  readonly parts: readonly Part[];
}

interface Part {
  readonly heading: string;
  /** The reading position. */
  readonly status: string;
  /** The size without the heading. */
  readonly size: Size;
  readonly rows: readonly string[];
}

export interface Shown {
  readonly frame: Frame;
  readonly size: Size;
}

/** The lines around the parts of a screen. */
type Edges = Exclude<BoxProps['borderStyle'], string | undefined>;
const NO_EDGE = '';
const Edges = createContext<Edges>(edgesOf(String));

function edgesOf(edge: NonNullable<Frame['edge']>): Edges {
  return {
    top: edge('─'),
    left: edge('│'),
    topLeft: edge('┬'),
    topRight: NO_EDGE,
    right: NO_EDGE,
    bottomLeft: NO_EDGE,
    bottom: NO_EDGE,
    bottomRight: NO_EDGE,
  };
}

/** A frame is one row lower than the terminal: rows that have scrolled out cannot be erased. */
export function Screen({ frame, size }: Shown) {
  const { header, body, question, notices = [], footer, edge = String } = frame;
  // If only this object is new, Ink makes room for all four sides, also for those that a panel does not have.
  const edges = useMemo(() => edgesOf(edge), [edge]);
  return (
    <Edges value={edges}>
      <Box flexDirection="column" height={Math.max(1, size.rows - 1)}>
        <Rows rows={header} />
        <Box flexGrow={1} flexDirection="column">
          {'list' in body ? <ListDetail {...body} /> : <Rows rows={body} />}
        </Box>
        {question && (
          <Panel title="">
            <Rows rows={question} />
          </Panel>
        )}
        <Rows rows={notices} />
        {footer !== undefined && <Rows rows={[footer]} />}
      </Box>
    </Edges>
  );
}

function ListDetail({ isBeside, list, details }: Panes) {
  return (
    <Box flexGrow={1} flexDirection={isBeside ? 'row' : 'column'}>
      {list.size.rows > 0 && (
        // Its upper edge goes on to the line beside it.
        <Panel title={list.title} {...(isBeside && { width: list.size.columns + 1 })}>
          <Rows rows={list.rows} height={list.size.rows} />
        </Panel>
      )}
      {details.size.rows > 0 && (
        <Panel title={details.title} isBeside={isBeside} flexGrow={1}>
          <Rows rows={details.tabs} />
          <Parts {...details} />
        </Panel>
      )}
    </Box>
  );
}

function Parts({ isBeside, parts }: DrawnSheet) {
  return (
    <Box flexDirection={isBeside ? 'row' : 'column'} columnGap={1}>
      {parts.map(({ heading, status, size, rows }, index) => (
        <Panel
          key={String(index)}
          title={null}
          isBeside={isBeside && index > 0}
          {...(isBeside && { width: index > 0 ? size.columns + 2 : size.columns })}
        >
          <Box justifyContent="space-between">
            <Text wrap="truncate">{heading}</Text>
            <Text wrap="truncate">{status}</Text>
          </Box>
          <Rows rows={rows} height={size.rows} />
        </Panel>
      ))}
    </Box>
  );
}

interface PanelProps extends BoxProps {
  /** The title in the upper edge; null without an edge. */
  readonly title: string | null;
  /** There is another panel to the left. */
  readonly isBeside?: boolean;
  readonly children: ReactNode;
}

function Panel({ title, isBeside = false, children, ...box }: PanelProps) {
  return (
    <Box
      key={`${title === null} ${isBeside}`} // Ink does not take an edge away again
      flexDirection="column"
      borderStyle={useContext(Edges)}
      borderTop={title !== null}
      borderLeft={isBeside}
      borderRight={false}
      borderBottom={false}
      paddingLeft={isBeside ? 1 : 0}
      {...box}
    >
      {title ? (
        <Box marginTop={-1} marginLeft={isBeside ? 1 : 2} flexShrink={0}>
          <Text> {title} </Text>
        </Box>
      ) : null}
      {children}
    </Box>
  );
}

interface RowsProps {
  readonly rows: readonly string[];
  readonly height?: number;
}

/** The rows are already cut to the width; an empty row still needs a line. */
export function Rows({ rows, height = rows.length }: RowsProps) {
  if (height === 0) return null;
  return (
    <Box flexShrink={0} height={height}>
      <Text wrap="truncate">{rows.map(row => row || ' ').join('\n')}</Text>
    </Box>
  );
}

interface AppProps {
  readonly store: Store<Shown>;
  readonly onPress: (press: Press) => void;
  /** Called when the screen is unmounted, for any reason. */
  readonly onLeave: () => void;
}

function App({ store, onPress, onLeave }: AppProps) {
  const shown = useSyncExternalStore(store.subscribe, store.snapshot);
  useKeys(onPress);
  useLayoutEffect(() => onLeave, [onLeave]);
  return <Screen {...shown} />;
}

/**
 * Draws with Ink, which clears the scrollback (CSI 3J) if it considers a frame higher than the terminal. Frames are already cut, so the
 * height is hidden from it.
 */
export function mount(node: ReactElement, { stdin, stdout }: Terminal) {
  const unbounded: NodeJS.WriteStream = Object.create(stdout, { rows: { value: Number.MAX_SAFE_INTEGER } });
  return render(node, { stdin, stdout: unbounded, exitOnCtrlC: false, patchConsole: false });
}

/** Draws the frames of the store with Ink until the view is closed, or a second signal ends the process. */
export function inkView(props: AppProps, terminal: Terminal) {
  const view = mount(<App {...props} />, terminal);
  const forget = beforeForcedEnd(() => view.unmount());
  return {
    async close(): Promise<void> {
      const over = view.waitUntilExit();
      view.unmount();
      await over;
      forget();
    },
  };
}

/**
 * Calls `onPress` for each key, and for each piece of pasted text, in raw mode. Replaces Ink's `useInput`, which throws on unknown
 * sequences with a Ctrl modifier, and reports other unknown sequences as text.
 */
export function useKeys(onPress: (press: Press) => void, isActive = true): void {
  const { setRawMode, internal_eventEmitter: sequences } = useStdin();
  useEffect(() => {
    if (!isActive) return;
    setRawMode(true);
    return () => setRawMode(false);
  }, [isActive, setRawMode]);
  useEffect(() => {
    if (!isActive) return;
    const read = (sequence: string) => {
      const press = readSequence(sequence);
      if (press) onPress(press);
    };
    sequences.on('input', read);
    return () => void sequences.off('input', read);
  }, [isActive, sequences, onPress]);
}
