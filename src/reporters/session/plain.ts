import type { ColourLevel } from '../../dress/colour-level.js';
import { dressLine } from '../../dress/dress.js';
import { createTheme } from '../../dress/theme.js';
import type { Event } from '../../exchange/events.js';
import type { Session } from '../../exchange/session/session.js';
import type { Line } from '../../story/line.js';
import { finalLines } from '../../story/session/final-words.js';
import { knownCalls } from '../../story/session/known.js';
import { sessionNews } from '../../story/session/news.js';
import { callsTally } from '../../story/session/tally.js';
import { say } from '../../story/spans.js';
import { stepLine } from '../../story/step-line.js';
import { newStepsOf } from '../../story/steps/index.js';
import { elapsed } from '../../story/tool-calls/index.js';
import type { Redactor } from '../../text/redact.js';
import { Page } from '../page.js';
import type { Paper } from '../reporter.js';
import { troubleText, warningText } from '../trouble.js';
import { urgentTeller } from '../urgent.js';
import { type KnownSession, type SessionReporter, warningsOfSession } from './reporter.js';

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
  const page = new Page(stdout, count => `… ${count} that came while nobody read are not shown\n`);
  const dressed = (lines: readonly Line[]) =>
    redactor.text(lines.map(line => `${dressLine(line, theme)}\n`).join(''));
  return {
    event(event) {
      urgent?.(event);
      if (!quiet) page.news(() => dressed(linesOf(event, known, isTTY)));
    },
    async aside(work) {
      await page.written(); // a person is asked below what was told before
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

/** Warnings are told at the end. @param isPrivate whether nobody but the user sees it: a consent URL whole is for them only (RT-OAUTH) */
function linesOf(event: Event, known: KnownSession, isPrivate: boolean): Line[] {
  const news = event.kind === 'warned' ? null : sessionNews(event, known);
  const isOfMany = known.sessions.list.some(({ calls }) => calls.size > 1);
  const steps = newStepsOf(known.history, event, { isPrivate, isOfMany });
  const lines = [...(news ? [news] : []), ...steps.map(step => stepLine(step))];
  return lines.map(line => [say(`${elapsed(event.at).padStart(8)} `, 'dim'), ...line]);
}
