import { useSyncExternalStore } from 'react';
import { loadHighlighter, loadLexers } from '../../display/syntax/load.js';
import type { Exchange } from '../../events/exchange.js';
import { type Session as SessionOfSession, statusOf } from '../../events/session-calls.js';
import { isSettledStatus, type OAuth, type UserChoice } from '../../protocol/callbacks.js';
import { sessionCallRow } from '../../render/calls.js';
import { clipped, type Line, quote, say } from '../../render/line.js';
import { callWords } from '../../render/news.js';
import type { Paper } from '../../render/outputs/reporter.js';
import {
  type AnsweredSession,
  type KnownSession,
  type SessionReporter,
  warningsOfSession,
} from '../../render/outputs/session/report.js';
import { callsTally, sessionHead } from '../../render/outputs/session.js';
import { troubleText, warningText } from '../../render/outputs/trouble.js';
import { llmPane, type Pane, type Panes, panesOf } from '../../render/panes.js';
import { type Given, givenOf, type KnownCall, knownCalls } from '../../render/session-answers.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import { createTheme, cutLine, dressLine, type Theme, wrapLine } from '../../render/terminal/theme.js';
import type { Clock } from '../../system/drafts.js';
import { formatDuration } from '../../util/format-duration.js';
import type { Redactor } from '../../util/redact.js';
import { foreignWords } from '../../util/redact-json.js';
import { onceEach } from '../../util/safe-to-visit.js';
import { type Hint, hintsLine } from '../keys.js';
import {
  type Command,
  type Frame,
  layFrame,
  redactFrame,
  type Surroundings,
  type Top,
} from '../live/frame.js';
import { FRAME_MS, Framed, liveView } from '../live/reporter.js';
import { Session } from '../live/session.js';
import type { Size, Store } from '../terminal.js';
import { sessionTable } from './platform.js';

interface Shown {
  readonly frame: Frame;
  readonly takesKeys: boolean;
}

interface Props {
  readonly store: Store<Shown>;
  readonly onCommand: (command: Command) => void;
}

/** The live view of a session that is answered. */
function App({ store, onCommand }: Props) {
  return <Framed {...useSyncExternalStore(store.subscribe, store.snapshot)} onCommand={onCommand} />;
}

/** Everything that there is to see while a session is answered, but for what tools ask and show besides. */
interface AnswerScene {
  readonly id: string;
  readonly url: string;
  /** Undefined until the platform has told of it. */
  readonly session: SessionOfSession | undefined;
  /** Oldest first. */
  readonly calls: readonly KnownCall[];
  /** The call that was answered last: what is shown of it. */
  readonly latest: KnownCall | undefined;
  /** What a person is asked now. */
  readonly asks: UserChoice | OAuth | null;
  /** The call whose tool asks it. */
  readonly asking: KnownCall | undefined;
  /** What is the matter, where nothing else says it. */
  readonly status: readonly Line[];
  /** Nothing more happens: the frame is the last one. */
  readonly isOver: boolean;
  /** Ms since the start. */
  readonly now: number;
}

/** The calls of a session, which of them was answered last, and which of them asks. */
export function callsOf(
  session: SessionOfSession | undefined,
  { history }: KnownSession,
  asks: AnswerScene['asks'] = null,
): Pick<AnswerScene, 'calls' | 'latest' | 'asking'> {
  const calls = session ? knownCalls(session, history) : [];
  const answered = calls.filter(({ call }) => call.answer !== null);
  const latest = answered.reduce<KnownCall | undefined>(
    (last, each) => ((each.call.answer?.at ?? 0) >= (last?.call.answer?.at ?? 0) ? each : last),
    undefined,
  );
  const asking = calls.find(({ call }) => call.key === asks?.id); // an invocation has the key of its call as its id
  return { calls, latest, asking };
}

/** What the human sees beside what the LLM gets of a call for which a RAP tool was called; made once for each. */
export function panesOfCalls(supports: ReadonlySet<string>): (known: KnownCall | undefined) => Panes | null {
  const panesOnce = onceEach((exchange: Exchange) => panesOf(exchange, supports));
  return known => (known?.exchange ? panesOnce(known.exchange) : null);
}

/** What the model gets of a call that was answered here. */
function givenPane(known: KnownCall | undefined): Pane | null {
  const given = known ? givenOf(known) : null;
  return given?.text ? paneOnce(given) : null;
}

const paneOnce = onceEach((given: Given) => llmPane(given.text ?? '', true));

/** What the agent says in the end; null until it does. */
function answerPane({ answer }: SessionOfSession): Pane | null {
  return answer && answerPaneOnce(answer);
}

const answerPaneOnce = onceEach(({ value }: NonNullable<SessionOfSession['answer']>): Pane => {
  const pane = llmPane(foreignWords(value), true);
  return { ...pane, title: 'answer', about: 'of the agent' };
});

/** Which call it is whose tool asks. */
function askerLine({ call }: KnownCall): Line {
  return [say('? ', 'warn'), ...callWords(call), say(' asks')];
}

/** The page that a tool wants to be visited, its URL whole (RT-OAUTH), and for which call; nothing where there is none. */
function pageLines({ asks, asking }: Pick<AnswerScene, 'asks' | 'asking'>): readonly Line[] {
  if (asks?.type !== 'oauth') return [];
  const asker = asking ? [askerLine(asking)] : [];
  return [...asker, [say('visit this URL to continue:')], quote(asks.auth_url, 'title')];
}

/** The session and its calls, the latest of them where there is no room for all; what a person is to do stands below, and is never cut. */
function answerTop(scene: AnswerScene, columns: number, theme: Theme): Top {
  const dress = (lines: readonly Line[]) => lines.map(line => dressLine(cutLine(line, columns), theme));
  const head = [nameLine(scene), standing(scene), ...tally(scene)];
  const below = [...pageLines(scene).flatMap(line => wrapLine(line, columns, theme)), ...dress(scene.status)];
  const least = head.length + (scene.calls.length > 0 ? 2 : 0) + below.length; // the head of the table and a call
  return {
    least,
    draw: max => {
      const above = dress([...head, ...table(scene, columns, max - head.length - below.length)]);
      return [...above.slice(0, Math.max(0, max - below.length)), ...below].slice(0, max);
    },
  };
}

function nameLine({ id, url }: AnswerScene): Line {
  return [say('session '), ...clipped(id, 'title'), say('  '), ...clipped(originOf(url), 'running')];
}

function standing({ session, now }: AnswerScene): Line {
  if (session) return sessionHead(session, now);
  return [say('… ', 'running'), say('asking the platform', 'running'), say(` ${formatDuration(now)}`, 'dim')];
}

/** Once it is over. */
function tally({ session, calls }: AnswerScene): readonly Line[] {
  return session && isSettledStatus(statusOf(session) ?? '') ? callsTally(session, calls) : [];
}

/** A head, the latest calls, and how many there are besides. */
function table({ calls, latest, asking, now }: AnswerScene, columns: number, max: number): readonly Line[] {
  if (calls.length === 0 || max < 2) return [];
  const room = calls.length <= max - 1 ? max - 1 : max - 2;
  const seen = latestWith(asking, calls, Math.max(1, room));
  const rows = seen.map(call => sessionCallRow(call, now));
  const meant = asking ?? latest;
  const selected = meant && rows[seen.indexOf(meant)];
  const lines = sessionTable(rows, selected, columns, { ofOne: true });
  const hidden = calls.length - seen.length;
  const which = seen.at(-1) === calls.at(-1) && seen[0] === calls[hidden] ? 'earlier' : 'other';
  return hidden > 0 && max > 2 ? [...lines, [say(`  … ${hidden} ${which} calls`, 'dim')]] : lines;
}

/** The latest of them, and in any case the one that asks. */
function latestWith(
  asking: KnownCall | undefined,
  calls: readonly KnownCall[],
  count: number,
): readonly KnownCall[] {
  const seen = calls.slice(-count);
  return asking === undefined || seen.includes(asking)
    ? seen
    : [asking, ...calls.slice(1 - count || calls.length)];
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}

/** While nothing is asked: what is asked has its own. */
const KEYS: readonly Hint[] = [['Ctrl-C', 'stops answering']];

/**
 * Lays out a session that is answered: how it stands, its calls, then what the human sees beside what the LLM gets of the call that was
 * answered last, in the end what the agent says; or what a person is asked.
 */
export function answerFrame(scene: AnswerScene, around: Surroundings, size: Size, theme: Theme): Frame {
  const { session, latest } = scene;
  const given = around.panes === null ? givenPane(latest) : null;
  const said = session ? answerPane(session) : null;
  const views = [...around.views, ...(given ? [given] : []), ...(said ? [said] : [])];
  const status = [...scene.status, ...around.status];
  const keys = status.length > 0 || around.picker || scene.isOver ? [] : [hintsLine([], KEYS, size.columns)];
  const top = answerTop({ ...scene, status: [...status, ...keys] }, size.columns, theme);
  const picker =
    around.picker && scene.asking ? { ...around.picker, asker: askerLine(scene.asking) } : around.picker;
  return layFrame(top, { ...around, status: [], views, picker }, size, theme);
}

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
