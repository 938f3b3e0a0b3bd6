import type { Event } from '../../events/events.js';
import { type Session, sessionCallState, statusOf } from '../../events/session-calls.js';
import { isSettledStatus } from '../../protocol/callbacks.js';
import { formatDuration } from '../../util/format-duration.js';
import type { Redactor } from '../../util/redact.js';
import { finalLines } from '../call-details.js';
import { clipped, elapsed, type Line, type Span, say, type Tone } from '../line.js';
import { sessionNews } from '../news.js';
import { givenOf, type KnownCall, knownCalls } from '../session-answers.js';
import { stepLine } from '../step-arrivals.js';
import { newStepsOf } from '../steps.js';
import type { ColourLevel } from '../terminal/colour-level.js';
import { createTheme, dressLine } from '../terminal/theme.js';
import { outcomesLine } from './repeats.js';
import { Page, type Paper } from './reporter.js';
import { type KnownSession, type SessionReporter, warningsOfSession } from './session/report.js';
import { troubleText, warningText } from './trouble.js';
import { urgentTeller } from './urgent.js';

/** How the calls of a session went: `3 calls: 1 success, 1 timeout, 1 error`; nothing where it had none. */
export function callsTally({ forgotten }: Session, calls: readonly KnownCall[]): readonly Line[] {
  const ways: Record<string, number> = {};
  for (const call of calls) {
    const way = givenOf(call)?.outcome.type ?? 'unanswered';
    ways[way] = (ways[way] ?? 0) + 1;
  }
  if (forgotten > 0) ways['not kept'] = forgotten;
  const all = calls.length + forgotten;
  return all === 0 ? [] : [outcomesLine(all, ways)];
}

export interface PlainSessionOptions {
  readonly level: ColourLevel;
  readonly isTTY: boolean;
  readonly redactor: Redactor;
}

/**
 * How a session is answered, in lines with their time: on the leg to the platform, and on those to a RAP tool; then the agent's answer
 * whole, and how the calls went. With `-q` that answer alone.
 */
export function plainSession(
  known: KnownSession,
  paper: Paper,
  { level, isTTY, redactor }: PlainSessionOptions,
): SessionReporter {
  const { stdout, stderr, quiet } = paper;
  const theme = createTheme(level);
  const urgent = isTTY ? null : urgentTeller(known.history, paper);
  const page = new Page(stdout, count => `… ${count} were dropped: the reader of stdout is too slow\n`);
  const dressed = (lines: readonly Line[]) =>
    redactor.text(lines.map(line => `${dressLine(line, theme)}\n`).join(''));
  return {
    event(event) {
      urgent?.(event);
      if (!quiet) page.news(() => dressed(linesOf(event, known, isTTY)));
    },
    async aside(work) {
      await page.written(); // the question stands below what was written before
      return work();
    },
    async end(ending) {
      const session = known.sessions.get(ending.session.id);
      const lines = session ? finalLines(session) : [];
      if (quiet) page.write(dressed(lines.slice(1)));
      else for (const part of [lines, tallyOf(session, known)]) page.write(apart(dressed(part)));
      await page.written();
      if (!quiet) for (const warning of warningsOfSession(ending)) stderr.write(warningText(warning));
      if (ending.trouble) stderr.write(troubleText(ending.trouble));
    },
  };
}

function tallyOf(session: Session | undefined, { history }: KnownSession): readonly Line[] {
  return session ? callsTally(session, knownCalls(session, history)) : [];
}

/** After a blank line, where there is anything. */
function apart(text: string): string {
  return text === '' ? '' : `\n${text}`;
}

/** Warnings come at the end. @param isPrivate only the user sees it, who alone may see a whole consent URL (RT-OAUTH) */
function linesOf(event: Event, known: KnownSession, isPrivate: boolean): Line[] {
  const news = event.kind === 'warned' ? null : sessionNews(event, known);
  const isOfMany = known.sessions.list.some(({ calls }) => calls.size > 1);
  const steps = newStepsOf(known.history, event, { isPrivate, isOfMany });
  const lines = [...(news ? [news] : []), ...steps.map(step => stepLine(step))];
  return lines.map(line => [say(`${elapsed(event.at).padStart(8)} `, 'dim'), ...line]);
}

/** How a session stands: its status and for how long, its rounds, its calls. @param now ms since the start */
export function sessionHead(session: Session, now: number): Line {
  const { rounds, calls, forgotten } = session;
  const taken = [...calls.values()].filter(call => sessionCallState(session, call) === 'taken').length;
  const counts = [
    ...(rounds > 0 ? [isSettledStatus(statusOf(session) ?? '') ? roundsIn(rounds) : `round ${rounds}`] : []),
    `${taken + forgotten} of ${calls.size + forgotten} calls answered`,
  ];
  return [...statusWords(session, now), say(` · ${counts.join(' · ')}`, 'dim')];
}

function roundsIn(count: number): string {
  return `${count} round${count === 1 ? '' : 's'}`;
}

function statusWords(session: Session, now: number): Line {
  const status = statusOf(session) ?? 'no status yet';
  const { mark, tone } = lookOf(status);
  const isOver = isSettledStatus(status);
  const at = session.statuses.at(-1)?.at ?? session.beganAt;
  const time = isOver
    ? ` after ${formatDuration(at - session.beganAt)}`
    : ` ${formatDuration(whole(now - at))}`;
  return [mark, say(' '), ...clipped(status, tone, 60), say(time, 'dim')];
}

function lookOf(status: string): { readonly mark: Span; readonly tone: Tone } {
  if (status === 'completed' || status === 'idle') return { mark: say('✓', 'good'), tone: 'good' };
  if (isSettledStatus(status)) return { mark: say('✗', 'bad'), tone: 'bad' };
  return { mark: say('…', 'running'), tone: 'running' };
}

/** It may last for hours, which need no tenths. */
function whole(milliseconds: number): number {
  return Math.max(0, Math.floor(milliseconds / 1_000) * 1_000);
}
