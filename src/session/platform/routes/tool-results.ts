import { readJson } from '../../../text/json.js';
import type { Answer, Route } from '../../../transport/server.js';
import { type Judgement, judgeResults } from '../judge/judge.js';
import { settle } from '../state/settle.js';
import { type Asked, idRoute } from './api.js';
import { type Api, reasonOf, refuse } from './endpoint.js';

/** Smaller results are always taken, so that each session can be brought to its end. */
const SMALL = 64 * 1024;
const TOO_LARGE = 'The sessions are too large together; start the mock again.';

/** Takes the results of pending calls (seed 001). What is accepted is answered before the agent runs on. */
export function toolResultsRoute(api: Api): Route {
  const endpoint = {
    method: 'POST',
    purpose: 'tool_results',
    name: 'tool_results',
    accepts: 'json',
    verifies: 'results',
  } as const;
  return idRoute(api, endpoint, asked => {
    const { session, incoming } = asked;
    if (incoming.body.length > SMALL && !api.store.hasRoom(incoming.body.length)) {
      refuse(api, { session: session?.id ?? null, status: 429, reason: TOO_LARGE });
      return asked.serve().json(429, { detail: TOO_LARGE });
    }
    const judgement = judgeResults(session, readJson(incoming.body));
    const answer = answerTo(asked, session?.id, judgement);
    if (session) api.store.step(session, (each, at) => settle(each, judgement.settles, at));
    return answer;
  });
}

function answerTo(
  { api, serve }: Asked,
  session: string | undefined,
  { status, detail, settles, warnings }: Judgement,
): Answer {
  const served = serve({ calls: settles.map(({ call }) => call.key) });
  const about = session === undefined ? {} : { thread: session };
  for (const { message, key } of warnings)
    api.log.emit({ kind: 'warned', message, ...about, ...(key !== undefined && { calls: [key] }) });
  if (detail === undefined) return served.empty(status);
  refuse(api, { session: session ?? null, status, reason: reasonOf(detail) });
  return served.json(status, { detail });
}
