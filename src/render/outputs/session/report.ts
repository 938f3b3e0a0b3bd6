import type { History } from '../../../events/history.js';
import { type Sessions, sessionCallState, statusOf } from '../../../events/session-calls.js';
import type { Warning } from '../../../protocol/requirements.js';
import { writeOut } from '../../../system/streams.js';
import type { Redactor } from '../../../util/redact.js';
import { redactJson, safeJson } from '../../../util/redact.js';
import { since } from '../../../util/text.js';
import { givenOf, type KnownCall, knownCalls } from '../../session-calls.js';
import { counted, withoutFollow } from '../../warnings.js';
import { warningsOfAll } from '../repeats.js';
import type { Paper, Reporter, Trouble } from '../reporter.js';
import type { SessionReport } from '../schemas.js';
import { errorReport, troubleText } from '../trouble.js';
import { urgentTeller } from '../urgent.js';

/** Both folds of what happens while a session is answered: they have each event before a reporter gets it. */
export interface KnownSession {
  readonly sessions: Sessions;
  /** Of the legs to a RAP tool; its exchanges have the keys of the calls. */
  readonly history: History;
}

/** The session that is answered. */
export interface AnsweredSession {
  readonly id: string;
  /** Of the session, without credentials. */
  readonly url: string;
}

/** What a reporter tells at the end. */
interface SessionEnding {
  readonly session: AnsweredSession;
  readonly known: KnownSession;
  /** What the command itself has to warn of. */
  readonly notes: readonly Warning[];
  readonly trouble: Trouble | null;
}

/** One way to tell how a session is answered: as it happens, and at the end. */
export interface SessionReporter extends Pick<Reporter, 'event' | 'aside' | 'choose' | 'close'> {
  end(ending: SessionEnding): Promise<void>;
}

/** All that is worth a warning, each once. */
export function warningsOfSession({ known: { sessions, history }, notes }: SessionEnding): Warning[] {
  return counted([
    ...notes,
    ...sessions.warnings.map(message => ({ message })),
    ...warningsOfAll(history).map(withoutFollow),
  ]);
}

/** How a session was answered, as a value; undefined members are left out of the JSON. */
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
    outcome: givenOf(known)?.outcome ?? null,
    ...(json?.ok && { body: json.value }),
    posted: postedReport(known),
    ms: answer && since(answer.at, askedAt),
  };
}

function postedReport({ session, call }: KnownCall): SessionReport['calls'][number]['posted'] {
  const state = sessionCallState(session, call);
  const { post, posts: attempts } = call;
  return post === null || state === 'pending' ? null : { state, status: post.status ?? null, attempts };
}

/** One object at the end; where it failed, as far as it got, with `error`. */
export function jsonSession(known: KnownSession, paper: Paper, redactor: Redactor): SessionReporter {
  return {
    event: urgentTeller(known.history, paper),
    async end(ending) {
      await writeOut(paper.stdout, `${redactJson(safeJson(sessionReport(ending), 2), redactor)}\n`);
      if (ending.trouble) paper.stderr.write(troubleText(ending.trouble));
    },
  };
}
