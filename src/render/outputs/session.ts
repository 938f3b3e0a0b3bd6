import type { Event } from '../../events/events.js';
import type { Session } from '../../events/session-calls.js';
import type { Redactor } from '../../util/redact.js';
import { elapsed, type Line, say } from '../line.js';
import { finalLines, givenOf, type KnownCall, knownCalls, sessionNews } from '../session-calls.js';
import { newStepsOf, stepLine } from '../steps.js';
import type { ColourLevel } from '../terminal/colour-level.js';
import { createTheme, dressLine } from '../terminal/theme.js';
import { outcomesLine } from './repeats.js';
import { Page, type Paper } from './reporter.js';
import { type KnownSession, type SessionReporter, warningsOfSession } from './session/report.js';
import { troubleText, warningText } from './trouble.js';
import { urgentTeller } from './urgent.js';

/** The outcomes of a session's calls: `3 calls: 1 success, 1 timeout, 1 error`. */
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

interface PlainSessionOptions {
  readonly level: ColourLevel;
  readonly isTTY: boolean;
  readonly redactor: Redactor;
}

/**
 * The events of a session with their times, at the platform and at a RAP tool; then the answer of the agent, and the outcomes of its
 * calls. With `-q` that answer alone.
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
    redactor.text(lines.map(each => `${dressLine(each, theme)}\n`).join(''));
  return {
    event(event) {
      urgent?.(event);
      if (!quiet) page.news(() => dressed(eventLines(event, known, isTTY)));
    },
    async aside(work) {
      await page.written(); // the question stands below what was written before
      return work();
    },
    async end(ending) {
      page.write(endTexts(known.sessions.get(ending.session.id), known, quiet).map(dressed).join(''));
      await page.written();
      const warnings = quiet ? [] : warningsOfSession(ending);
      for (const warning of warnings) stderr.write(warningText(warning));
      if (ending.trouble) stderr.write(troubleText(ending.trouble));
    },
  };
}

/** The answer and the tally, each after an empty line; with `-q` the answer alone, without its heading. */
function endTexts(session: Session | undefined, { history }: KnownSession, isQuiet: boolean): Line[][] {
  if (!session) return [];
  const answer = finalLines(session);
  if (isQuiet) return [answer.slice(1)];
  const parts = [answer, callsTally(session, knownCalls(session, history))];
  return parts.flatMap(part => (part.length > 0 ? [[[], ...part]] : []));
}

/** Warnings come at the end. @param isPrivate only the user sees it, who alone may see a whole consent URL (RT-OAUTH) */
function eventLines(event: Event, known: KnownSession, isPrivate: boolean): Line[] {
  const news = event.kind === 'warned' ? null : sessionNews(event, known);
  const isOfMany = known.sessions.list.some(({ calls }) => calls.size > 1);
  const steps = newStepsOf(known.history, event, { isPrivate, isOfMany }).map(step => stepLine(step));
  return [...(news ? [news] : []), ...steps].map(each => [
    say(`${elapsed(event.at).padStart(8)} `, 'dim'),
    ...each,
  ]);
}
