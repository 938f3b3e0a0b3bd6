import type { Event } from '../../events/events.js';
import type { History } from '../../events/history.js';
import { type Session, type Sessions, sessionCallState, statusOf } from '../../events/session-calls.js';
import type { Warning } from '../../protocol/requirements.js';
import { elapsedMs } from '../../util/text.js';
import { elapsed, type Line, say } from '../line.js';
import { finalLines, type KnownCall, knownCalls, receivedAnswer } from '../session-calls.js';
import { stepLine } from '../step.js';
import { newStepsOf } from '../steps.js';
import { lineStyler } from '../terminal/wrap.js';
import { newsOf } from '../tool-news.js';
import { warningsOfAll, withoutOptions } from '../warnings.js';
import { outcomesLine } from './repeats-summary.js';
import type { Page, Reporter } from './reporter.js';
import type { SessionReport } from './schemas.js';
import { errorReport, type Trouble } from './trouble.js';

/** The state of a session and of its tool calls. Both have each event before a reporter gets it. */
export interface KnownSession {
  readonly sessions: Sessions;
  /** The calls to a RAP tool. They have the same keys as the session's calls. */
  readonly history: History;
}

export interface AnsweredSession {
  readonly id: string;
  /** The URL of the session, without credentials. */
  readonly url: string;
}

interface SessionEnding {
  readonly session: AnsweredSession;
  readonly known: KnownSession;
  /** Warnings of the command itself. */
  readonly notes: readonly Warning[];
  readonly trouble: Trouble | null;
}

export type SessionReporter = Omit<Reporter<SessionEnding>, 'settled'>;

/** All warnings of a session, without duplicates. */
export function warningsOfSession({ known: { sessions, history }, notes }: SessionEnding): Warning[] {
  return warningsOfAll(history, [...notes, ...sessions.warnings.map(message => ({ message }))]).map(
    withoutOptions,
  );
}

export function sessionReport(ending: SessionEnding): SessionReport {
  const {
    session: { id, url },
    known,
    trouble,
  } = ending;
  const session = known.sessions.get(id);
  return {
    session: {
      id,
      url,
      status: session ? statusOf(session) : null,
      rounds: session?.rounds ?? 0,
      ...(session?.answer && { answer: session.answer.value }),
      error: session?.error ?? null,
    },
    calls: session ? knownCalls(session, known.history).map(callReport) : [],
    forgotten: session?.forgotten ?? 0,
    warnings: warningsOfSession(ending),
    ...(trouble && { error: errorReport(trouble) }),
  };
}

function callReport(known: KnownCall): SessionReport['calls'][number] {
  const { key, tool: tool_name, args, id, round, answer, askedAt } = known.call;
  const json = answer?.body?.json;
  return {
    key,
    tool_name,
    ...(args !== undefined && { args }),
    id,
    round,
    outcome: receivedAnswer(known)?.outcome ?? null,
    ...(json?.ok && { body: json.value }),
    posted: postedReport(known),
    ms: answer && elapsedMs(answer.at, askedAt),
  };
}

function postedReport({ session, call }: KnownCall): SessionReport['calls'][number]['posted'] {
  const state = sessionCallState(session, call);
  const { post, posts: attempts } = call;
  return post === null || state === 'pending' ? null : { state, status: post.status ?? null, attempts };
}

/** Counts the outcomes of a session's calls: `3 calls: 1 success, 1 timeout, 1 error`. */
export function callsTally({ forgotten }: Session, calls: readonly KnownCall[]): readonly Line[] {
  const ways: Record<string, number> = {};
  for (const call of calls) {
    const way = receivedAnswer(call)?.outcome.type ?? 'unanswered';
    ways[way] = (ways[way] ?? 0) + 1;
  }
  if (forgotten > 0) ways['not kept'] = forgotten;
  const all = calls.length + forgotten;
  return all === 0 ? [] : [outcomesLine(all, ways)];
}

/**
 * Prints the events at the platform and at a RAP tool with their times, then the agent's answer and the outcomes of its calls. With `-q`,
 * only the answer.
 */
export function plainSession(known: KnownSession, page: Page): SessionReporter {
  const { quiet, isTTY, lendTerminal: aside } = page;
  const styled = lineStyler(page);
  return {
    event(event) {
      if (!isTTY) page.urgent(event);
      if (!quiet) page.out.news(() => [styled(eventLines(event, known, isTTY))]);
    },
    lendTerminal: aside,
    end(ending) {
      page.out.write(endTexts(known.sessions.get(ending.session.id), known, quiet).map(styled).join(''));
      return page.end(warningsOfSession(ending), ending.trouble, true);
    },
  };
}

/** The answer and the counts, each after an empty line; with `-q`, only the answer, without its heading. */
export function endTexts(
  session: Session | undefined,
  { history }: KnownSession,
  isQuiet: boolean,
): Line[][] {
  if (!session) return [];
  const answer = finalLines(session);
  if (isQuiet) return [answer.slice(1)];
  const parts = [answer, callsTally(session, knownCalls(session, history))];
  return parts.flatMap(part => (part.length > 0 ? [[[], ...part]] : []));
}

/**
 * Leaves out warnings, which are printed at the end. @param isPrivate only the user reads the output, so consent URLs are shown whole
 * (RT-OAUTH)
 */
function eventLines(event: Event, known: KnownSession, isPrivate: boolean): Line[] {
  const news = event.kind === 'warned' ? null : newsOf(event, known);
  const isOfMany = known.sessions.list.some(({ calls }) => calls.size > 1);
  const steps = newStepsOf(known.history, event, { isPrivate, isOfMany }).map(step => stepLine(step));
  return [...(news ? [news] : []), ...steps].map(each => [
    say(`${elapsed(event.at).padStart(8)} `, 'dim'),
    ...each,
  ]);
}
