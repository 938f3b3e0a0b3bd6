import { render } from 'ink';
import type { ColourLevel } from '../../dress/colour-level.js';
import { createTheme } from '../../dress/theme.js';
import type { History } from '../../exchange/history.js';
import type { Ending, Paper, Reporter } from '../../reporters/reporter.js';
import { troubleText, warningText } from '../../reporters/trouble.js';
import { type Panes, panesOf } from '../../story/panes.js';
import { stepsOf } from '../../story/steps/index.js';
import { warningsOf } from '../../story/warnings.js';
import type { Clock } from '../../system/clock.js';
import { App } from './app.js';
import type { Scene, Size } from './frame.js';
import { createLiveStore } from './store.js';

const TICK_MS = 100;

export interface LiveOptions {
  readonly history: History;
  readonly paper: Paper;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly clock: Clock;
  readonly supports: ReadonlySet<string>;
  readonly level: ColourLevel;
}

const NOTHING: Scene = { steps: [], panes: null, now: 0 };

/** Draws in place, below what is on the screen already; the last frame stays there. Needs a terminal on both ends. */
export function liveReporter(options: LiveOptions): Reporter {
  const { history, paper, clock, supports, level, stdin, stdout } = options;
  const start = clock.now();
  const theme = createTheme(level);
  let panes: Panes | null = null;
  let isAside = false;
  let isOver = false;
  const scene = (): Scene => ({ steps: stepsOf(history), panes, now: clock.now() - start });
  const store = createLiveStore({ scene: scene(), size: sizeOf(stdout) });
  const mount = () =>
    render(<App store={store} theme={theme} />, {
      stdin,
      stdout: unbounded(stdout),
      exitOnCtrlC: false,
      patchConsole: false,
    });
  let view = mount();
  const redraw = () => {
    if (!isAside) store.set({ scene: scene() });
  };
  const leave = async () => {
    await new Promise(setImmediate); // React draws in a microtask what the store holds
    view.unmount();
    await view.waitUntilExit();
  };
  const resize = () => store.set({ size: sizeOf(stdout) });
  stdout.on('resize', resize);
  const stopTicking = ticking(clock, redraw);
  return {
    event: redraw,
    async settled({ exchange }: Ending) {
      panes = exchange ? panesOf(exchange, supports) : null;
      redraw();
    },
    async aside(work) {
      isAside = true;
      store.set({ scene: NOTHING });
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
      stopTicking();
      stdout.off('resize', resize);
      redraw();
      await leave();
    },
    async end({ exchange, notes, trouble }: Ending) {
      const warnings = [...notes, ...warningsOf(history, exchange), ...(panes?.warnings ?? [])];
      if (!paper.quiet) for (const warning of warnings) paper.stderr.write(warningText(warning));
      if (trouble) paper.stderr.write(troubleText(trouble));
    },
  };
}

function sizeOf({ columns, rows }: NodeJS.WriteStream): Size {
  return { columns, rows };
}

/** Ink clears the scrollback (CSI 3J) where it believes a frame to be higher than the terminal; frames are cut to it here. */
function unbounded(stdout: NodeJS.WriteStream): NodeJS.WriteStream {
  return Object.create(stdout, { rows: { value: Number.MAX_SAFE_INTEGER } });
}

function ticking(clock: Clock, tick: () => void): () => void {
  let cancel = () => {};
  const next = () => {
    cancel = clock.after(TICK_MS, () => {
      tick();
      next();
    });
  };
  next();
  return () => cancel();
}
