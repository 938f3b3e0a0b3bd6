import { setTimeout as sleep } from 'node:timers/promises';
import { sendJson } from '../kit/http.mjs';
import { Journal } from '../kit/journal.mjs';
import { Session } from './session.mjs';

/** Answers as the script of ../session-platform.mjs says. It is used up by that. */
export function platformFor(script) {
  const { key, session: id = 'session_1', gets = [], posts = {} } = script;
  const session = new Session(script);
  const journal = new Journal();
  const base = `/api/v2/sessions/${id}`;
  let postCount = 0;
  /** What the session says of its status next, whatever it is. */
  let statuses = [];

  return async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://platform');
    if (pathname === '/__log') return sendJson(response, journal.entries);
    if (pathname === '/__session') return sendJson(response, session.summary);
    const entry = await journal.receive(`${request.method} ${pathname.replace(base, '')}`, request);
    const answer = await answerTo(request, pathname, searchParams, entry);
    if (answer === 'none') return request.socket.destroy();
    const {
      status,
      headers = {},
      body,
      raw = body === undefined ? undefined : JSON.stringify(body),
    } = answer;
    entry.status = status;
    const echo = script.echoes ? { server: key, 'x-echo': request.headers.authorization } : {};
    response.writeHead(status, { 'content-type': 'application/json', ...echo, ...headers }).end(raw);
  };

  async function answerTo({ method, headers }, pathname, query, { raw, body }) {
    if (key !== undefined && headers.authorization !== `Bearer ${key}`)
      return { status: 401, body: { message: 'Invalid API key.' } };
    if (method === 'POST' && pathname === '/api/v2/sessions')
      return { status: 201, body: { id, ...session.head } };
    if (pathname !== base && !pathname.startsWith(`${base}/`))
      return { status: 404, body: { detail: 'Session not found.' } };
    return (
      (method === 'GET' && (await oddAnswer(gets.shift()))) ||
      ownAnswer(`${method} ${pathname.slice(base.length)}`, query, { raw, body })
    );
  }

  function ownAnswer(what, query, { raw, body }) {
    switch (what) {
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
}
