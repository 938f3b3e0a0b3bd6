import { Box } from 'ink';
import { useCallback, useEffect, useSyncExternalStore } from 'react';
import type { Step } from '../../render/callbacks.js';
import type { Ending, Page, Reporter } from '../../render/outputs/reporter.js';
import { type Panes, panesOf } from '../../render/panes.js';
import { StepLog, stepLine } from '../../render/steps.js';
import { loadHighlighter, loadLexers } from '../../render/syntax.js';
import { createTheme, type Theme } from '../../render/terminal/theme.js';
import { wrapLine } from '../../render/terminal/wrap.js';
import { warningsOfEnding } from '../../render/warnings.js';
import type { Clock } from '../../system/clock.js';
import { mount, Rows, useKeys } from '../ink.js';
import { type Press, pressesIn } from '../keys.js';
import { createStore, type Size, type Store, sizeOf, throttled } from '../terminal.js';
import { type Frame, LiveModel, layFrame, type Subject } from './model.js';

interface Shown {
  readonly frame: Frame;
  /** With it, keys have an effect. Without it the terminal is not in raw mode, and typed text stays for the shell. */
  readonly subject: Subject;
}

interface AppProps {
  readonly store: Store<Shown>;
  readonly onKey: (key: string) => void;
  readonly onDrawn: (subject: Subject) => void;
  /** Removes secrets from the output (threats, row 25), except from the question to the user. */
  readonly redact?: ((text: string) => string) | undefined;
}

/** The live view: the blocks of a frame, stacked, and key handling while keys have an effect. */
function App({ store, onKey, onDrawn, redact = String }: AppProps) {
  const { frame, subject } = useSyncExternalStore(store.subscribe, store.snapshot);
  const onPress = useCallback(
    (press: Press) => {
      const names = pressesIn(press).map(({ name }) => name);
      // Of several Ctrl-C that arrive at once only one counts: a second one would force the exit.
      for (const [index, name] of names.entries())
        if (name !== 'ctrl+c' || names.indexOf(name) === index) onKey(name);
    },
    [onKey],
  );
  useKeys(onPress, subject !== null);
  useEffect(() => {
    const reading = setImmediate(onDrawn, subject); // in raw mode, waiting input is read before it runs
    return () => clearImmediate(reading);
  }, [onDrawn, subject]);
  const { steps, views, panes, picker } = frame;
  const { human = [], llm = [], isSideBySide = false, width = 0, gap = 1 } = panes ?? {};
  const shown = Object.entries({ human, llm }).filter(([, rows]) => rows.length > 0);
  return (
    <Box flexDirection="column" rowGap={1}>
      <Rows rows={steps.map(redact)} />
      <Rows rows={views.map(redact)} />
      {shown.length > 0 && (
        <Box flexDirection={isSideBySide ? 'row' : 'column'} gap={gap}>
          {shown.map(([name, rows]) => (
            <Box key={name} width={width}>
              <Rows rows={rows.map(redact)} />
            </Box>
          ))}
        </Box>
      )}
      <Rows rows={picker} />
    </Box>
  );
}

/** Frames are drawn at most ten times a second, and as often without events, since clocks run. */
const FRAME_MS = 100;

const EMPTY: Shown = { frame: { steps: [], views: [], panes: null, picker: [] }, subject: null };

interface LiveViewOptions extends Pick<AppProps, 'redact'> {
  readonly model: LiveModel;
  readonly frame: (size: Size) => Frame;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly clock: Clock;
  readonly isColourful: boolean;
}

/** Draws in place, below the existing output; the last frame stays. Needs a terminal on stdin and stdout. */
export function liveView({ model, frame, stdin, stdout, clock, isColourful, redact }: LiveViewOptions) {
  let isAside = false;
  const state = (): Shown => ({ frame: frame(sizeOf(stdout)), subject: model.subject });
  const store = createStore(state());
  const onKey = (key: string) => model.press(key);
  const onDrawn = (subject: Subject) => model.drawn(subject);
  const draw = () => {
    const app = <App store={store} onKey={onKey} onDrawn={onDrawn} redact={redact} />;
    const { unmount, waitUntilExit } = mount(app, { stdin, stdout });
    return { unmount, over: waitUntilExit() }; // if called after the end, waitUntilExit would leave a listener behind
  };
  let view = draw();
  // Ink continues reading after raw mode ends; input after that belongs to the next program in the terminal.
  const releaseKeys = () => {
    if (!model.subject) stdin.pause();
  };
  const redraw = () => {
    if (isAside) return;
    const before = store.snapshot().subject;
    store.set(state());
    if (before && !model.subject) setImmediate(releaseKeys);
  };
  const frames = throttled(clock, FRAME_MS, redraw);
  const tick = () => {
    frames.request();
    stopTicking = clock.after(FRAME_MS, tick);
  };
  let stopTicking = clock.after(FRAME_MS, tick);
  const stopLoading = clock.after(FRAME_MS, () => void (isColourful && loadLexers()));
  const unmount = async () => {
    await new Promise(setImmediate); // React draws the current state in a microtask
    view.unmount();
    await view.over;
  };
  stdout.on('resize', redraw);
  return {
    redraw,
    /** Schedules a frame. A question appears, and raw mode begins and ends, immediately. */
    changed() {
      if (model.subject === store.snapshot().subject) frames.request();
      else redraw();
    },
    /** Lets other code use the terminal during `work`. */
    async lendTerminal<T>(work: () => Promise<T>): Promise<T> {
      isAside = true;
      store.set(EMPTY);
      await unmount();
      return work().finally(() => {
        if (model.isOver) return;
        isAside = false;
        view = draw();
        redraw();
      });
    },
    /** Draws the last frame, which stays on the screen. */
    async close() {
      model.end();
      stopLoading();
      stopTicking();
      frames.stop();
      stdout.off('resize', redraw);
      redraw();
      await unmount();
    },
  };
}

interface LiveOptions extends Pick<AppProps, 'redact'> {
  readonly page: Page;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly clock: Clock;
  /** The time limit for the result; 0: no limit. */
  readonly timeoutMs?: number;
  readonly supports: ReadonlySet<string>;
  readonly interrupt: () => void;
}

interface Contents extends ReturnType<LiveModel['blocks']> {
  readonly steps: readonly Step[];
  readonly now: number;
}

/** A frame with the steps on top; only the latest if not all fit. */
export function frameOf(contents: Contents, size: Size, theme: Theme): Frame {
  const { steps, status, now } = contents;
  const lines = [...steps.slice(-Math.max(1, size.rows - 1)).map(step => stepLine(step, now)), ...status];
  const rows = lines.flatMap(line => wrapLine(line, size.columns, theme));
  const top = { draw: (max: number) => rows.slice(Math.max(0, rows.length - max)), min: 1 + status.length };
  return layFrame(top, contents, size, theme);
}

/** Maximum number of steps kept: more than a terminal has rows. */
const MAX_STEPS = 500;

/** Shows `invoke` in place as it happens; the last frame stays. Needs a terminal on stdin and stdout. */
export function liveReporter(options: LiveOptions): Reporter {
  const { page, clock, timeoutMs = 0, supports } = options;
  const { history, level } = page;
  const { stdin, stdout, interrupt, redact } = options;
  const theme = createTheme(level);
  const isColourful = level >= 2;
  const model = new LiveModel({ history, clock, timeoutMs, interrupt, onChange: () => view.redraw() });
  const log = new StepLog(history, MAX_STEPS);
  const frame = (size: Size) => {
    const blocks = model.blocks(size);
    return frameOf({ ...blocks, steps: log.latest(size.rows), now: model.now }, size, theme);
  };
  const view = liveView({ model, frame, stdin, stdout, clock, isColourful, redact });
  let paneWarnings: Panes['warnings'] = [];
  return {
    event(event) {
      log.add(event);
      view.changed();
    },
    choose: (question, signal) => model.ask(question, signal),
    async settled({ exchange }: Ending) {
      const panes = exchange ? panesOf(exchange, supports) : null;
      const hasResult = exchange?.settled?.by === 'result' || exchange?.settled?.by === 'answer';
      const human = hasResult && panes ? panes.human : null;
      const drawings = [...(human ? [human] : []), ...model.views].map(({ drawing }) => drawing);
      if (isColourful) model.highlighter = await loadHighlighter(drawings);
      model.panes = panes && { llm: panes.llm, human };
      paneWarnings = panes?.warnings ?? [];
      view.redraw();
    },
    lendTerminal: view.lendTerminal,
    close: view.close,
    end: ending => page.end(warningsOfEnding(ending, paneWarnings), ending.trouble),
  };
}
