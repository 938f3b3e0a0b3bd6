import type { Exchange } from '../../events/exchange.js';
import { type Session, statusOf } from '../../events/session-calls.js';
import type { OAuth, UserChoice } from '../../protocol/callbacks.js';
import { isSettledStatus } from '../../protocol/session.js';
import { clipped, type Line, quote, say } from '../../render/line.js';
import type { Page } from '../../render/outputs/reporter.js';
import {
  type AnsweredSession,
  callsTally,
  type KnownSession,
  type SessionReporter,
  warningsOfSession,
} from '../../render/outputs/session.js';
import { llmPane, type Pane, type Panes, panesOf } from '../../render/panes.js';
import {
  callLine,
  type KnownCall,
  knownCalls,
  receivedAnswer,
  sessionCallRow,
  sessionHead,
} from '../../render/session-calls.js';
import { loadHighlighter } from '../../render/syntax.js';
import { cutLine } from '../../render/terminal/fit.js';
import { createTheme, styleLine, type Theme } from '../../render/terminal/theme.js';
import { wrapLine } from '../../render/terminal/wrap.js';
import type { Clock } from '../../system/clock.js';
import { memoizeByObject } from '../../util/collections.js';
import type { Redactor } from '../../util/redact.js';
import { formatDuration } from '../../util/text.js';
import { stringOrJson } from '../../util/values.js';
import { hintsLine } from '../keys.js';
import { tableLines } from '../layout.js';
import { type Frame, LiveModel, layFrame } from '../live/model.js';
import { liveView } from '../live/reporter.js';
import type { Size } from '../terminal.js';
import { CALLS_OF_ONE } from './platform.js';

/** The current state of a session and its calls. */
interface AnswerState extends AnsweredSession {
  readonly known: KnownSession;
  /** The question to the user. */
  readonly asks: UserChoice | OAuth | null;
  readonly panesOf: (exchange: Exchange) => Panes | null;
  /** This is the last frame. */
  readonly isOver: boolean;
  readonly now: number;
}

/** The session, once the platform has answered; its calls, oldest first, the one with the most recent answer, and the one that asks. */
function callsOf({ id, known, asks }: Pick<AnswerState, 'id' | 'known' | 'asks'>) {
  const session = known.sessions.get(id);
  const calls = session ? knownCalls(session, known.history) : [];
  const answeredAt = ({ call }: KnownCall) => call.answer?.at ?? 0;
  const [latest] = calls
    .filter(({ call }) => call.answer !== null)
    .toReversed()
    .sort((a, b) => answeredAt(b) - answeredAt(a));
  const asking = calls.find(({ call }) => call.key === asks?.id); // an invocation's id is the key of its call
  return { session, calls, latest, asking };
}

/**
 * Lays out a session: its state, its calls, the panes of the call with the most recent answer, and in the end the agent's answer; or the
 * question to the user.
 */
export function answerFrame(
  state: AnswerState,
  around: ReturnType<LiveModel['blocks']>,
  size: Size,
  theme: Theme,
): Frame {
  const calls = callsOf(state);
  const { session, latest, asking } = calls;
  const panes = latest?.exchange ? state.panesOf(latest.exchange) : null;
  const given = latest && !panes ? receivedAnswer(latest) : null;
  const views = [
    ...around.views,
    ...(given?.text ? [givenPane(given)] : []),
    ...(session?.answer ? [answerPane(session.answer)] : []),
  ];
  const isIdle = around.status.length === 0 && !around.picker && !state.isOver;
  const status = isIdle ? [hintsLine([], [['Ctrl-C', 'stops answering']], size.columns)] : around.status;
  const picker = asking ? (around.picker?.askedBy(askerLine(asking)) ?? null) : around.picker;
  const top = topOf(state, calls, status, size.columns, theme);
  return layFrame(top, { ...around, status: [], panes, views, picker }, size, theme);
}

const givenPane = memoizeByObject(({ text }: NonNullable<ReturnType<typeof receivedAnswer>>) =>
  llmPane(text ?? '', true),
);

const answerPane = memoizeByObject(
  ({ value }: NonNullable<Session['answer']>): Pane => ({
    ...llmPane(stringOrJson(value), true),
    title: 'answer',
    about: 'of the agent',
  }),
);

/** The session and its calls, then the question to the user, which is never cut. */
function topOf(
  state: AnswerState,
  { session, calls, latest, asking }: ReturnType<typeof callsOf>,
  status: readonly Line[],
  columns: number,
  theme: Theme,
): Parameters<typeof layFrame>[0] {
  const { id, url, asks, now } = state;
  const dress = (lines: readonly Line[]) => lines.map(line => styleLine(cutLine(line, columns), theme));
  const origin = URL.canParse(url) ? new URL(url).origin : url;
  const isSettled = session !== undefined && isSettledStatus(statusOf(session) ?? '');
  const head: readonly Line[] = [
    [say('session '), ...clipped(id, 'title'), say('  '), ...clipped(origin, 'running')],
    session
      ? sessionHead(session, now)
      : [say('… asking the platform', 'running'), say(` ${formatDuration(now)}`, 'dim')],
    ...(isSettled ? callsTally(session, calls) : []),
  ];
  const page = pageLines(asks, asking).flatMap(line => wrapLine(line, columns, theme));
  const below = [...page, ...dress(status)];
  return {
    min: head.length + (calls.length > 0 ? 2 : 0) + below.length, // the head of the table and a call
    draw(max) {
      const rows = max - head.length - below.length;
      const above = dress([...head, ...tableRows(calls, asking, asking ?? latest, { columns, rows }, now)]);
      return [...above.slice(0, Math.max(0, max - below.length)), ...below].slice(0, max);
    },
  };
}

/** The page that a tool asks the user to open, with its whole URL (RT-OAUTH). */
function pageLines(asks: AnswerState['asks'], asking: KnownCall | undefined): readonly Line[] {
  if (asks?.type !== 'oauth') return [];
  const asker = asking ? [askerLine(asking)] : [];
  return [...asker, [say('visit this URL to continue:')], quote(asks.auth_url, 'title')];
}

function askerLine({ call }: KnownCall): Line {
  return [say('? ', 'warn'), ...callLine(call), say(' asks')];
}

/** A head, the latest calls including the one that asks, and the number of hidden calls. */
function tableRows(
  calls: readonly KnownCall[],
  asking: KnownCall | undefined,
  selected: KnownCall | undefined,
  { columns, rows: max }: Size,
  now: number,
): readonly Line[] {
  if (calls.length === 0 || max < 2) return [];
  const room = Math.max(1, calls.length <= max - 1 ? max - 1 : max - 2);
  const latest = calls.slice(-room);
  const isAskingHidden = asking !== undefined && !latest.includes(asking);
  const seen = isAskingHidden ? [asking, ...latest.slice(1)] : latest;
  const rows = seen.map(call => sessionCallRow(call, now));
  const selectedRow = selected && rows[seen.indexOf(selected)];
  const lines = tableLines(CALLS_OF_ONE, rows, selectedRow, columns);
  const hidden = calls.length - seen.length;
  const which = isAskingHidden ? 'other' : 'earlier';
  return hidden > 0 && max > 2 ? [...lines, [say(`  … ${hidden} ${which} calls`, 'dim')]] : lines;
}

interface LiveSessionOptions {
  readonly known: KnownSession;
  readonly session: AnsweredSession;
  readonly page: Page;
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly clock: Clock;
  readonly supports: ReadonlySet<string>;
  /** Removes secrets from the output (threats, row 25). */
  readonly redactor?: Redactor;
  readonly interrupt: () => void;
}

/** Shows `session answer` in place as it happens; the last frame stays. Needs a terminal on stdin and stdout. */
export function liveSession(options: LiveSessionOptions): SessionReporter {
  const { known, session, page, stdin, stdout, clock, supports, interrupt, redactor } = options;
  const { level } = page;
  const theme = createTheme(level);
  const isColourful = level >= 2;
  const model = new LiveModel({ history: known.history, clock, interrupt, onChange: () => view.redraw() });
  const panesOnce = memoizeByObject((exchange: Exchange) => panesOf(exchange, supports));
  const frame = (size: Size) => {
    const around = model.blocks(size);
    const { asks, isOver, now } = model;
    const state = { ...session, known, asks, isOver, now, panesOf: panesOnce };
    return answerFrame(state, around, size, theme);
  };
  const view = liveView({ model, frame, stdin, stdout, clock, isColourful, redact: redactor?.text });
  const highlight = async () => {
    const { latest } = callsOf({ ...session, known, asks: null });
    const panes = latest?.exchange ? panesOnce(latest.exchange) : null;
    model.highlighter ??= await loadHighlighter(panes ? [panes.human.drawing] : []);
    view.redraw();
  };
  return {
    event(event) {
      view.changed();
      if (event.kind === 'answered' && isColourful && model.highlighter === null) void highlight();
    },
    choose: (question, signal) => model.ask(question, signal),
    lendTerminal: view.lendTerminal,
    close: view.close,
    end: ending => page.end(warningsOfSession(ending), ending.trouble),
  };
}
