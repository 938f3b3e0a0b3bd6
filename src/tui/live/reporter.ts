import type { Ending, Page, Reporter } from '../../render/outputs/reporter.js';
import { type Panes, panesOf } from '../../render/panes.js';
import { StepLog } from '../../render/step-log.js';
import { loadHighlighter } from '../../render/syntax.js';
import { screenPaletteOf } from '../../render/terminal/theme.js';
import { warningsOfEnding } from '../../render/warnings.js';
import type { Clock } from '../../system/clock.js';
import { sizeOf, type TtyStreams } from '../tty.js';
import { createLive } from './effects.js';
import { blocksOf, frameOf, viewsOf } from './frame.js';
import { mountLive } from './mount.js';
import type { LiveState } from './state.js';

interface LiveReporterOptions extends TtyStreams {
  readonly page: Page;
  readonly clock: Clock;
  /** The time limit for the result; 0: no limit. */
  readonly timeoutMs?: number;
  readonly supports: ReadonlySet<string>;
  readonly interrupt: () => void;
  /** Removes secrets from everything except the question to the user (threats, row 25). */
  readonly redact?: (text: string) => string;
}

/** Maximum number of steps kept: more than a terminal has rows. */
const MAX_STEPS = 500;

/** Shows `invoke` in place as it happens; the last frame stays. Needs a terminal on stdin and stdout. */
export function liveReporter({
  page,
  stdin,
  stdout,
  clock,
  timeoutMs = 0,
  supports,
  interrupt,
  redact = String,
}: LiveReporterOptions): Reporter {
  const { history, level, background } = page;
  const look = { palette: screenPaletteOf(level, background), redact };
  const live = createLive({ history, clock, interrupt, size: () => sizeOf(stdout) });
  const log = new StepLog(history, MAX_STEPS);
  const frame = (state: LiveState) => {
    const { size, now } = state;
    const contents = { ...blocksOf(state, history, timeoutMs), steps: log.latest(size.rows), now };
    return frameOf(contents, size, look);
  };
  const view = mountLive({ live, frame, colours: { level, background }, stdin, stdout, clock });
  let paneWarnings: Panes['warnings'] = [];
  return {
    event(event) {
      log.add(event);
      view.changed();
    },
    choose: live.ask,
    async settled({ exchange }: Ending) {
      const panes = exchange ? panesOf(exchange, supports) : null;
      const hasResult = exchange?.settled?.by === 'result' || exchange?.settled?.by === 'answer';
      const human = hasResult && panes ? panes.human : null;
      const drawings = [...(human ? [human] : []), ...viewsOf(history)].map(({ drawing }) => drawing);
      if (level >= 2) live.dispatch({ type: 'highlight', highlighter: await loadHighlighter(drawings) });
      live.dispatch({ type: 'settle', panes: panes && { llm: panes.llm, human } });
      paneWarnings = panes?.warnings ?? [];
    },
    lendTerminal: view.lendTerminal,
    close: view.close,
    end: ending => page.end(warningsOfEnding(ending, paneWarnings), ending.trouble),
  };
}
