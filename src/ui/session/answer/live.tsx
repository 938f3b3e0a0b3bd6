import { loadHighlighter, loadLexers } from '../../../display/syntax/load.js';
import type { ColourLevel } from '../../../dress/colour-level.js';
import { createTheme } from '../../../dress/theme.js';
import type { Paper } from '../../../reporters/reporter.js';
import {
  type AnsweredSession,
  type KnownSession,
  type SessionReporter,
  warningsOfSession,
} from '../../../reporters/session/reporter.js';
import { troubleText, warningText } from '../../../reporters/trouble.js';
import type { Clock } from '../../../system/clock.js';
import type { Redactor } from '../../../text/redact.js';
import { redactFrame } from '../../live/frame.js';
import { Session } from '../../live/session.js';
import { FRAME_MS, liveView } from '../../live/view.js';
import type { Size } from '../../terminal.js';
import { App, type Shown } from './app.js';
import { answerFrame } from './frame.js';
import { callsOf, panesOfCalls } from './scene.js';

export interface LiveSessionOptions {
  readonly known: KnownSession;
  readonly session: AnsweredSession;
  readonly paper: Paper;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly clock: Clock;
  readonly supports: ReadonlySet<string>;
  readonly level: ColourLevel;
  /** Takes secrets out of what is shown (threats, row 25). */
  readonly redactor?: Redactor;
  /** What Ctrl-C does. */
  readonly interrupt: () => void;
}

const NOTHING: Shown = { frame: { steps: [], views: [], panes: null, picker: [] }, takesKeys: false };

/** `session answer` as it happens, in place; the last frame stays. Needs a terminal on both ends. */
export function liveSession(options: LiveSessionOptions): SessionReporter {
  const { known, session: about, paper, stdin, stdout, clock, supports, level, interrupt } = options;
  const theme = createTheme(level);
  const isColourful = level >= 2;
  const people = new Session({ history: known.history, clock, interrupt, onChange: () => view.redraw() });
  const panesOf = panesOfCalls(supports);
  const frame = (size: Size) => {
    const session = known.sessions.get(about.id);
    const around = people.surroundings(size);
    const { asks, now, isOver } = people;
    const calls = callsOf(session, known, asks);
    people.panes = panesOf(calls.latest);
    const scene = { ...about, session, ...calls, asks, status: [], isOver, now };
    return redactFrame(
      answerFrame(scene, { ...around, panes: people.panes }, size, theme),
      options.redactor?.text,
    );
  };
  const view = liveView(
    {
      state: size => ({ frame: frame(size), takesKeys: people.takesKeys }),
      away: NOTHING,
      element: store => <App store={store} onCommand={command => people.press(command)} />,
      takesKeys: () => people.takesKeys,
    },
    { stdin, stdout, clock },
  );
  const stopLoading = clock.after(FRAME_MS, () => void (isColourful && loadLexers()));
  const highlight = async () => {
    const panes = panesOf(callsOf(known.sessions.get(about.id), known).latest);
    people.highlighter ??= await loadHighlighter(panes ? [panes.human.drawing] : []);
    view.redraw();
  };
  return {
    event(event) {
      view.changed();
      if (event.kind === 'answered' && isColourful && people.highlighter === null) void highlight();
    },
    choose: (question, signal) => people.questions.ask(question, signal),
    aside: work => view.aside(work),
    close() {
      stopLoading();
      return view.close(() => people.end());
    },
    async end(ending) {
      if (!paper.quiet)
        for (const warning of warningsOfSession(ending)) paper.stderr.write(warningText(warning));
      if (ending.trouble) paper.stderr.write(troubleText(ending.trouble));
    },
  };
}
