import type { Exchange } from '../../events/exchange.js';
import { type Session, statusOf } from '../../events/session-calls.js';
import { isSettledStatus } from '../../protocol/session.js';
import { clipped, type Line, quote, redactLine, say } from '../../render/line.js';
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
import { screenPaletteOf } from '../../render/terminal/theme.js';
import type { Clock } from '../../system/clock.js';
import { memoizeByObject } from '../../util/collections.js';
import type { Redactor } from '../../util/redact.js';
import { formatDuration } from '../../util/text.js';
import { stringOrJson } from '../../util/values.js';
import { hintsLine } from '../keys.js';
import { tableLines } from '../layout.js';
import { createLive } from '../live/effects.js';
import {
  type Blocks,
  blocksOf,
  type Frame,
  type Look,
  layFrame,
  type Top,
  wrapClean,
} from '../live/frame.js';
import { mountLive } from '../live/mount.js';
import { answerableOf, type LiveState, type Subject } from '../live/state.js';
import { type Size, sizeOf, type Terminal } from '../terminal.js';
import { CALLS_OF_ONE } from './platform.js';

/** The current state of a session and its calls. */
interface AnswerState extends AnsweredSession {
  readonly known: KnownSession;
  /** The question to the user. */
  readonly asks: Subject;
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
export function answerFrame(state: AnswerState, around: Blocks, size: Size, look: Look): Frame {
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
  const picker = around.picker && asking ? { ...around.picker, asker: askerLine(asking) } : around.picker;
  const top = topOf(state, calls, status, size.columns, look);
  return layFrame(top, { ...around, status: [], panes, views, picker }, size, look);
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
  look: Look,
): Top {
  const { id, url, asks, now } = state;
  const fitted = (lines: readonly Line[]) =>
    lines.map(line => cutLine(redactLine(line, look.redact), columns));
  const origin = URL.canParse(url) ? new URL(url).origin : url;
  const isSettled = session !== undefined && isSettledStatus(statusOf(session) ?? '');
  const head: readonly Line[] = [
    [say('session '), ...clipped(id, 'title'), say('  '), ...clipped(origin, 'running')],
    session
      ? sessionHead(session, now)
      : [say('… asking the platform', 'running'), say(` ${formatDuration(now)}`, 'dim')],
    ...(isSettled ? callsTally(session, calls) : []),
  ];
  const below = [...wrapClean(pageLines(asks, asking), columns, look), ...fitted(status)];
  return {
    min: head.length + (calls.length > 0 ? 2 : 0) + below.length, // the head of the table and a call
    draw(max) {
      const rows = max - head.length - below.length;
      const above = fitted([...head, ...tableRows(calls, asking, asking ?? latest, { columns, rows }, now)]);
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

interface LiveSessionOptions extends Terminal {
  readonly known: KnownSession;
  readonly session: AnsweredSession;
  readonly page: Page;
  readonly clock: Clock;
  readonly supports: ReadonlySet<string>;
  /** Removes secrets from the output (threats, row 25). */
  readonly redactor?: Redactor;
  readonly interrupt: () => void;
}

/** Shows `session answer` in place as it happens; the last frame stays. Needs a terminal on stdin and stdout. */
export function liveSession(options: LiveSessionOptions): SessionReporter {
  const { known, session, page, stdin, stdout, clock, supports, interrupt, redactor } = options;
  const { history } = known;
  const { level, background } = page;
  const look = { palette: screenPaletteOf(level, background), redact: redactor?.text ?? String };
  const live = createLive({ history, clock, interrupt, size: () => sizeOf(stdout) });
  const panesOnce = memoizeByObject((exchange: Exchange) => panesOf(exchange, supports));
  const frame = (state: LiveState) => {
    const { isOver, now, size } = state;
    const shown = { ...session, known, asks: answerableOf(state), isOver, now, panesOf: panesOnce };
    return answerFrame(shown, blocksOf(state, history), size, look);
  };
  const view = mountLive({ live, frame, colours: { level, background }, stdin, stdout, clock });
  const highlight = async () => {
    const { latest } = callsOf({ ...session, known, asks: null });
    const panes = latest?.exchange ? panesOnce(latest.exchange) : null;
    const highlighter = await loadHighlighter(panes ? [panes.human.drawing] : []);
    if (live.state().highlighter === null) live.dispatch({ type: 'highlight', highlighter });
  };
  return {
    event(event) {
      view.changed();
      if (event.kind === 'answered' && level >= 2 && live.state().highlighter === null) void highlight();
    },
    choose: live.ask,
    lendTerminal: view.lendTerminal,
    close: view.close,
    end: ending => page.end(warningsOfSession(ending), ending.trouble),
  };
}
