import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Journal, sendJson } from '../kit.mjs';

const SETTLED = ['completed', 'failed', 'timed_out', 'interrupted', 'idle'];

/** One session that plays its rounds: each begins once every call of the one before has its result. */
class Session {
  #script;
  #round = 0;
  #pending = [];
  #applied = [];
  #events = [];
  #waiting = new Set();
  #end = {};
  status = 'running';

  constructor(script) {
    this.#script = script;
    for (const event of script.events ?? []) this.#publish(event);
    this.#goOn();
  }

  get head() {
    const { error = null, answer = null } = this.#end;
    return { status: this.status, started_at: null, finished_at: null, error, answer, metrics: {} };
  }

  get summary() {
    return { status: this.status, settled: this.#applied, pending: this.#pending };
  }

  /** The events from there on; null where none exist after so many seconds. */
  async newsFrom(index, seconds) {
    if (this.#events.length <= index && seconds > 0) await this.#next(seconds * 1000);
    return this.#events.length > index ? this.#events.slice(index) : null;
  }

  take(body) {
    const results = body?.type === 'batch' ? body.results : [body];
    if (!Array.isArray(results) || !results.every(isSettledCall)) return refusal('Invalid result format.');
    if (SETTLED.includes(this.status)) return { status: 409, body: { detail: 'Session finished.' } };
    const left = [...this.#pending];
    for (const { tool_req } of results) {
      const at = left.findIndex(call => isSame(call, tool_req));
      if (at < 0 && (this.#script.settled ?? 422) === 422)
        return refusal(`Unknown tool_req.id: ${tool_req.id}`);
      if (at >= 0) left.splice(at, 1);
    }
    this.#applied.push(...results);
    this.#pending = left;
    if (left.length > 0) this.#announce();
    else this.#goOn();
    return { status: 202 };
  }

  interrupt() {
    this.#pending = [];
    this.#finish({ status: 'interrupted', error: 'interrupted by a person' });
  }

  publish(event) {
    this.#publish(event);
  }

  /** As another client would. */
  settleFirst() {
    const [tool_req] = this.#pending;
    this.take({ kind: 'tool_result', tool_req, result: 'by someone else' });
  }

  #goOn() {
    this.#publish(stateChange('running', []));
    const next = (this.#script.rounds ?? [])[this.#round++];
    if (!next) return this.#finish(this.#script.end);
    this.#pending = next.calls;
    this.#announce();
  }

  #announce() {
    this.status = 'awaiting_tool_results';
    this.#publish(stateChange('awaiting_tool_results', this.#pending));
  }

  #finish(end = {}) {
    this.#end = end;
    this.status = this.#end.status ?? 'completed';
    this.#publish({ type: 'AgentFinishedEvent', data: this.#end });
  }

  #publish(event) {
    this.#events.push(event);
    for (const wake of this.#waiting) wake();
  }

  #next(ms) {
    return new Promise(resolve => {
      const wake = () => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, ms);
      this.#waiting.add(wake);
    });
  }
}

function stateChange(state, pending_tool_calls) {
  return {
    type: 'ActiveStateChangeEvent',
    data: { state, pending_tool_calls },
    timestamp: new Date().toISOString(),
  };
}

function isSettledCall(call) {
  if (call?.kind === 'tool_result') return typeof call.tool_req?.tool_name === 'string';
  const isError =
    call?.kind === 'error_event' && typeof call.error === 'string' && typeof call.origin === 'string';
  return isError && typeof call.tool_req?.tool_name === 'string';
}

/** By its id; by name and arguments where that is null. */
function isSame(call, request) {
  if (call.id || request.id) return call.id === request.id;
  return call.tool_name === request.tool_name && isDeepStrictEqual(call.args ?? {}, request.args ?? {});
}

function refusal(msg) {
  return { status: 422, body: { detail: [{ type: 'value_error', loc: ['body'], msg, input: null }] } };
}

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
      Buffer.byteLength(raw) > (script.maxBody ?? 10_000_000) ? { status: 413 } : session.take(body);
    return oddity === 'lose' ? 'none' : answer;
  }
}
