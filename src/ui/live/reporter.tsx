import { loadHighlighter, loadLexers } from '../../display/syntax/load.js';
import type { ColourLevel } from '../../dress/colour-level.js';
import { createTheme } from '../../dress/theme.js';
import type { History } from '../../exchange/history.js';
import type { Ending, Paper, Reporter } from '../../reporters/reporter.js';
import { troubleText, warningText } from '../../reporters/trouble.js';
import { panesOf } from '../../story/panes.js';
import { counted, warningsOf } from '../../story/warnings.js';
import type { Clock } from '../../system/clock.js';
import { App } from './app.js';
import type { Scene } from './frame.js';
import { Session } from './session.js';
import { FRAME_MS, liveView } from './view.js';

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
