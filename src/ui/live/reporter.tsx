import { render } from 'ink';
import { loadHighlighter, loadLexers } from '../../display/syntax/load.js';
import type { ColourLevel } from '../../dress/colour-level.js';
import { createTheme } from '../../dress/theme.js';
import type { History } from '../../exchange/history.js';
import type { Ending, Paper, Reporter } from '../../reporters/reporter.js';
import { troubleText, warningText } from '../../reporters/trouble.js';
import { panesOf } from '../../story/panes.js';
import { warningsOf } from '../../story/warnings.js';
import type { Clock } from '../../system/clock.js';
import { sizeOf, unbounded } from '../terminal.js';
import { throttled } from '../throttle.js';
import { App } from './app.js';
import type { Scene } from './frame.js';
import { Session } from './session.js';
import { createLiveStore } from './store.js';

/** At most ten frames a second, however much happens, and as many while nothing does: clocks run. */
const FRAME_MS = 100;

export interface LiveOptions {
  readonly history: History;
  readonly paper: Paper;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly clock: Clock;
  readonly supports: ReadonlySet<string>;
  readonly level: ColourLevel;
  /** What Ctrl-C does; a SIGINT unless told. */
  readonly interrupt?: () => void;
}

const NOTHING: Scene = { steps: [], status: [], views: [], panes: null, picker: null, now: 0 };

/** Draws in place, below what is on the screen already; the last frame stays there. Needs a terminal on both ends. */
export function liveReporter(options: LiveOptions): Reporter {
  const { history, paper, clock, supports, level, stdin, stdout } = options;
  const { interrupt = () => process.kill(process.pid, 'SIGINT') } = options;
  const theme = createTheme(level);
  const isColourful = level >= 2;
  let isAside = false;
  let isOver = false;
  const session = new Session({ history, clock, interrupt, onChange: () => redraw() });
  const state = () => {
    const size = sizeOf(stdout);
    return { size, scene: session.scene(size), takesKeys: session.takesKeys };
  };
  const store = createLiveStore(state());
  const mount = () =>
    render(<App store={store} theme={theme} onCommand={command => session.press(command)} />, {
      stdin,
      stdout: unbounded(stdout),
      exitOnCtrlC: false,
      patchConsole: false,
    });
  let view = mount();
  const redraw = () => {
    if (isAside) return;
    const tookKeys = store.snapshot().takesKeys;
    store.set(state());
    if (tookKeys && !session.takesKeys) setImmediate(letGo);
  };
  // Ink reads on where nobody presses keys any more: what is typed then is for whoever has the terminal next.
  const letGo = () => {
    if (!session.takesKeys) stdin.pause();
  };
  const frames = throttled(clock, FRAME_MS, redraw);
  const leave = async () => {
    await new Promise(setImmediate); // React draws in a microtask what the store holds
    view.unmount();
    await view.waitUntilExit();
  };
  stdout.on('resize', redraw);
  const stopTicking = ticking(clock, frames.ask);
  const stopLoading = clock.after(FRAME_MS, () => void (isColourful && loadLexers()));
  return {
    event() {
      // Raw mode begins and ends with what can be pressed.
      if (session.takesKeys === store.snapshot().takesKeys) frames.ask();
      else redraw();
    },
    choose: (question, signal) => session.questions.ask(question, signal),
    async settled({ exchange }: Ending) {
      const panes = exchange ? panesOf(exchange, supports) : null;
      const drawings = [panes?.human ?? [], session.views].flat().map(({ drawing }) => drawing);
      if (isColourful) session.highlighter = await loadHighlighter(drawings);
      session.panes = panes;
      redraw();
    },
    async aside(work) {
      isAside = true;
      store.set({ scene: NOTHING, takesKeys: false });
      await leave();
      return work().finally(() => {
        if (isOver) return;
        isAside = false;
        view = mount();
        redraw();
      });
    },
    async close() {
      isOver = true;
      session.end();
      stopTicking();
      stopLoading();
      frames.stop();
      stdout.off('resize', redraw);
      redraw();
      await leave();
    },
    async end({ exchange, notes, trouble }: Ending) {
      const warnings = [...notes, ...warningsOf(history, exchange), ...(session.panes?.warnings ?? [])];
      if (!paper.quiet) for (const warning of warnings) paper.stderr.write(warningText(warning));
      if (trouble) paper.stderr.write(troubleText(trouble));
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
