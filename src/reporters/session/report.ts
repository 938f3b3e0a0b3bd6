import { sessionCallState, statusOf } from '../../exchange/session/session.js';
import { givenOf } from '../../story/session/given.js';
import { type KnownCall, knownCalls } from '../../story/session/known.js';
import { since } from '../../text/since.js';
import { errorReport } from '../trouble.js';
import type { SessionReport } from './report-schema.js';
import { type SessionEnding, warningsOfSession } from './reporter.js';

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
