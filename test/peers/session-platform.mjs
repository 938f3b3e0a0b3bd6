/*
 * The platform's side of the agent-session API (seed 001), for clients. The script is JSON, in `SCRIPT` or in the file that is named:
 *   key       the bearer token; without one nobody is asked
 *   session   id of its one session: session_1 unless told
 *   events    published first, as they are
 *   rounds    [{ calls: [{ tool_name, args, id, … }] }]: the calls of each wait, published as they are
 *   end       { status: "completed", answer, error }
 *   posts     what the n-th POST of results meets, from "1": "lose" (applied, no answer), "drop" (not applied, no answer),
 *             "end" (the session is interrupted first), "steal" (somebody else settles the first pending call before), or
 *             { status, headers, body, raw, afterMs } (not applied; without a status it is only late),
 *             or { drop: true, statuses: [...] } (not applied, no answer, the session says so of its status next, and publishes: [...])
 *   gets      what the first GETs meet, before they work: a status, the same object, or "drop" for no answer; null for nothing
 *   page      so many events at most in one answer
 *   settled   status for a call that is not pending: 422 unless told
 *   maxBody   bytes; larger bodies get 413
 *   hasty     answers a long poll at once
 *   deaf      answers every question for changes from the first event on
 *   extra     members of changes beside its own
 *   echoes    gives the bearer token back, in a header of every answer
 * Creating a session gives that one. A batch is atomic. `GET /__log` shows all that came, as in README.md, with the `status`
 * it was answered; `GET /__session` shows { status, settled: [what was applied, in order], pending }.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { sendJson, serve } from './kit/http.mjs';
import { Journal } from './kit/journal.mjs';
import { Session } from './platform/session.mjs';

const script = JSON.parse(process.env.SCRIPT ?? readFileSync(process.argv[2], 'utf8'));
const { key, session: id = 'session_1', gets = [], posts = {} } = script;
const session = new Session(script);
const journal = new Journal();
const base = `/api/v2/sessions/${id}`;
let postCount = 0;
/** What the session says of its status next, whatever it is. */
let statuses = [];

await serve(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://platform');
  if (pathname === '/__log') return sendJson(response, journal.entries);
  if (pathname === '/__session') return sendJson(response, session.summary);
  const entry = await journal.receive(`${request.method} ${pathname.replace(base, '')}`, request);
  const answer = await answerTo(request, pathname, searchParams, entry);
  if (answer === 'none') return request.socket.destroy();
  const { status, headers = {}, body, raw = body === undefined ? undefined : JSON.stringify(body) } = answer;
  entry.status = status;
  const echo = script.echoes ? { server: key, 'x-echo': request.headers.authorization } : {};
  response.writeHead(status, { 'content-type': 'application/json', ...echo, ...headers }).end(raw);
});

async function answerTo({ method, headers }, pathname, query, { raw, body }) {
  if (key !== undefined && headers.authorization !== `Bearer ${key}`)
    return { status: 401, body: { message: 'Invalid API key.' } };
  if (method === 'POST' && pathname === '/api/v2/sessions')
    return { status: 201, body: { id, ...session.head } };
  if (pathname !== base && !pathname.startsWith(`${base}/`))
    return { status: 404, body: { detail: 'Session not found.' } };
  const odd = method === 'GET' ? await oddAnswer(gets.shift()) : null;
  if (odd) return odd;
  switch (`${method} ${pathname.slice(base.length)}`) {
    case 'GET ':
      return { status: 200, body: { id, ...session.head } };
    case 'GET /status':
      return { status: 200, body: { status: statuses.shift() ?? session.status } };
    case 'GET /changes':
      return changes(query);
    case 'POST /tool_results':
      return take(raw, body, posts[String(++postCount)]);
    default:
      return { status: 404, body: { detail: 'Not found.' } };
  }
}

/** What is answered in the place of the right answer; null where that is only late. */
async function oddAnswer(oddity) {
  statuses = oddity?.statuses ?? statuses;
  for (const event of oddity?.publishes ?? []) session.publish(event);
  if (oddity === 'drop' || oddity?.drop) return 'none';
  if (typeof oddity === 'number') return { status: oddity, body: { detail: 'Out of order.' } };
  if (oddity?.afterMs) await sleep(oddity.afterMs);
  return oddity?.status ? oddity : null;
}

async function changes(query) {
  const from = script.deaf ? 0 : Number(query.get('from_index') ?? 0);
  const seconds = script.hasty ? 0 : Number(query.get('wait_for_seconds') ?? 0);
  const news = await session.newsFrom(from, seconds);
  if (!news) return { status: 204 };
  const page = news.slice(0, script.page);
  const withEvents = query.get('include_events') !== 'false';
  return {
    status: 200,
    body: { ...session.head, ...script.extra, ...(withEvents && { new_events: page }) },
  };
}

async function take(raw, body, oddity) {
  const odd = await oddAnswer(oddity);
  if (odd) return odd;
  if (oddity === 'end') session.interrupt();
  if (oddity === 'steal') session.settleFirst();
  const answer =
    Buffer.byteLength(raw) > (script.maxBody ?? 5 * 1024 * 1024) ? { status: 413 } : session.take(body);
  return oddity === 'lose' ? 'none' : answer;
}
