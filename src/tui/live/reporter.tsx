import { Box, type Key, render, Text } from 'ink';
import { type ReactElement, useCallback, useSyncExternalStore } from 'react';
import { loadHighlighter, loadLexers } from '../../display/syntax/load.js';
import type { History } from '../../events/history.js';
import type { Ending, Paper, Reporter } from '../../render/outputs/reporter.js';
import { troubleText, warningText } from '../../render/outputs/trouble.js';
import { panesOf } from '../../render/panes.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import { createTheme, GAP, type Theme } from '../../render/terminal/theme.js';
import { counted, warningsOf } from '../../render/warnings.js';
import type { Clock } from '../../system/drafts.js';
import { useKeys } from '../keys/use-keys.js';
import { createStore, type Size, type Store, sizeOf, throttled, unbounded } from '../terminal.js';
import { type Command, commandsOf, type Frame, frameOf, redactFrame, type Scene } from './frame.js';
import { Session } from './session.js';

interface FramedProps {
  readonly frame: Frame;
  readonly takesKeys: boolean;
  readonly onCommand: (command: Command) => void;
}

/** A frame, its blocks one below the other; keys to whoever listens, while something can be pressed. */
export function Framed({ frame, takesKeys, onCommand }: FramedProps) {
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

interface LiveState {
  readonly scene: Scene;
  readonly size: Size;
  /** Something can be pressed: until then what is typed is for whoever has the terminal next. */
  readonly takesKeys: boolean;
}

type LiveStore = Store<LiveState>;

export const createLiveStore = createStore<LiveState>;

interface Props {
  readonly store: LiveStore;
  readonly theme: Theme;
  /** Takes secrets out of what is shown (threats, row 25). */
  readonly redact?: (text: string) => string;
  readonly onCommand: (command: Command) => void;
}

/** The live view: what has happened so far, then what the human sees beside what the LLM gets, or what a person is asked. */
export function App({ store, theme, redact, onCommand }: Props) {
  const { scene, size, takesKeys } = useSyncExternalStore(store.subscribe, store.snapshot);
  const frame = redactFrame(frameOf(scene, size, theme), redact);
  return <Framed frame={frame} takesKeys={takesKeys} onCommand={onCommand} />;
}

/** At most ten frames a second, however much happens, and as many while nothing does: clocks run. */
export const FRAME_MS = 100;

/** What there is to see, and whether something can be pressed: until then what is typed is for whoever has the terminal next. */
interface Shown {
  readonly takesKeys: boolean;
}

/** What is drawn, and by what. */
interface Play<State extends Shown> {
  /** As it is now. */
  readonly state: (size: Size) => State;
  /** Nothing: while somebody else has the terminal. */
  readonly away: Partial<State>;
  readonly element: (store: Store<State>) => ReactElement;
  readonly takesKeys: () => boolean;
}

interface Stage {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly clock: Clock;
}

interface LiveView {
  /** Something happened: it is drawn soon. */
  changed(): void;
  redraw(): void;
  /** Lets somebody else use the terminal for a while. */
  aside<T>(work: () => Promise<T>): Promise<T>;
  /** Draws what is to stay, and leaves the terminal in order. @param end called before that */
  close(end: () => void): Promise<void>;
}

/** Draws in place, below what is on the screen already; the last frame stays there. Needs a terminal on both ends. */
export function liveView<State extends Shown>(play: Play<State>, { stdin, stdout, clock }: Stage): LiveView {
  let isAside = false;
  let isOver = false;
  const state = () => play.state(sizeOf(stdout));
  const store = createStore(state());
  const mount = () => {
    const options = { stdin, stdout: unbounded(stdout), exitOnCtrlC: false, patchConsole: false };
    const { unmount, waitUntilExit } = render(play.element(store), options);
    return { unmount, over: waitUntilExit() }; // asked for after the end, it would leave a listener behind
  };
  let view = mount();
  const redraw = () => {
    if (isAside) return;
    const tookKeys = store.snapshot().takesKeys;
    store.set(state());
    if (tookKeys && !play.takesKeys()) setImmediate(letGo);
  };
  // Ink reads on where nobody presses keys any more: what is typed then is for whoever has the terminal next.
  const letGo = () => {
    if (!play.takesKeys()) stdin.pause();
  };
  const frames = throttled(clock, FRAME_MS, redraw);
  const leave = async () => {
    await new Promise(setImmediate); // React draws in a microtask what the store holds
    view.unmount();
    await view.over;
  };
  stdout.on('resize', redraw);
  const stopTicking = ticking(clock, frames.ask);
  return {
    changed() {
      // Raw mode begins and ends with what can be pressed.
      if (play.takesKeys() === store.snapshot().takesKeys) frames.ask();
      else redraw();
    },
    redraw,
    async aside(work) {
      isAside = true;
      store.set(play.away);
      await leave();
      return work().finally(() => {
        if (isOver) return;
        isAside = false;
        view = mount();
        redraw();
      });
    },
    async close(end) {
      isOver = true;
      end();
      stopTicking();
      frames.stop();
      stdout.off('resize', redraw);
      redraw();
      await leave();
    },
  };
}

function ticking(clock: Clock, tick: () => void): () => void {
  let cancel = () => {};
  const next = () => {
    cancel = clock.after(FRAME_MS, () => {
      tick();
      next();
    });
  };
  next();
  return () => cancel();
}

export interface LiveOptions {
  readonly history: History;
  readonly paper: Paper;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly clock: Clock;
  /** For the result; 0: there is no limit. */
  readonly timeoutMs?: number;
  readonly supports: ReadonlySet<string>;
  readonly level: ColourLevel;
  readonly redact?: (text: string) => string;
  /** What Ctrl-C does. */
  readonly interrupt: () => void;
}

const NOTHING: Scene = { steps: [], status: [], views: [], panes: null, picker: null, now: 0 };

/** Draws in place, below what is on the screen already; the last frame stays there. Needs a terminal on both ends. */
export function liveReporter(options: LiveOptions): Reporter {
  const { history, paper, clock, timeoutMs = 0, supports, level } = options;
  const { stdin, stdout, interrupt, redact } = options;
  const theme = createTheme(level);
  const isColourful = level >= 2;
  const session = new Session({ history, clock, timeoutMs, interrupt, onChange: () => view.redraw() });
  const view = liveView(
    {
      state: size => ({ size, scene: session.scene(size), takesKeys: session.takesKeys }),
      away: { scene: NOTHING, takesKeys: false },
      element: store => (
        <App
          store={store}
          theme={theme}
          {...(redact && { redact })}
          onCommand={command => session.press(command)}
        />
      ),
      takesKeys: () => session.takesKeys,
    },
    { stdin, stdout, clock },
  );
  const stopLoading = clock.after(FRAME_MS, () => void (isColourful && loadLexers()));
  return {
    event: () => view.changed(),
    choose: (question, signal) => session.questions.ask(question, signal),
    async settled({ exchange }: Ending) {
      const panes = exchange ? panesOf(exchange, supports) : null;
      const drawings = [panes?.human ?? [], session.views].flat().map(({ drawing }) => drawing);
      if (isColourful) session.highlighter = await loadHighlighter(drawings);
      session.panes = panes;
      view.redraw();
    },
    aside: work => view.aside(work),
    close: () => {
      stopLoading();
      return view.close(() => session.end());
    },
    async end({ exchange, notes, trouble }: Ending) {
      const warnings = [...notes, ...warningsOf(history, exchange), ...(session.panes?.warnings ?? [])];
      if (!paper.quiet) for (const warning of counted(warnings)) paper.stderr.write(warningText(warning));
      if (trouble) paper.stderr.write(troubleText(trouble));
    },
  };
}
