import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parsed } from '../kit.mjs';

/** The calls that a session waits for, by its events: the latest counts. A wait ends when the state is another one. */
class Pending {
  #calls = [];
  #answered = new Set();

  apply({ type, data }) {
    if (type !== 'ActiveStateChangeEvent') return;
    const isAwaiting = data.state === 'awaiting_tool_results';
    this.#calls = isAwaiting ? data.pending_tool_calls : [];
    if (!isAwaiting) this.#answered.clear();
  }

  /** Those that were not taken in this wait; from now on they are. */
  take() {
    const names = new Map();
    return this.#calls.filter(call => {
      const name = call.id ?? JSON.stringify([call.tool_name, call.args ?? {}]);
      const count = (names.get(name) ?? 0) + 1;
      names.set(name, count);
      const key = `${count} ${name}`;
      const isNew = !this.#answered.has(key);
      this.#answered.add(key);
      return isNew;
    });
  }
}

/** What the custom tools of the clients do, by name. */
const TOOLS = {
  lookup_order: () => 'shipped',
  echo: args => args,
  explode: () => {
    throw new Error('Order not found');
  },
  nothing: () => undefined,
  slow: async ({ ms }) => {
    await sleep(ms);
    return ms;
  },
};

const declared = Object.keys(TOOLS).map(name => ({
  name,
  description: name,
  input_schema: { type: 'object' },
}));

/** A settled call: no tool and a failing tool are errors of the client, and no result is null. */
async function settled(tool_req) {
  const { tool_name, args } = tool_req;
  try {
    if (!Object.hasOwn(TOOLS, tool_name)) throw new Error(`Unknown tool: ${tool_name}`);
    return { kind: 'tool_result', tool_req, result: (await TOOLS[tool_name](args ?? {})) ?? null };
  } catch (error) {
    return { kind: 'error_event', error: error.message, origin: 'client', tool_req };
  }
}

const TRIES = 5;
const PAUSE_MS = 50;
const MOST_PAUSE_MS = 2000;

/** The API behind one key. Everything that is sent and answered is kept in `journal`, without the key. */
class Wire {
  journal = [];
  #base;
  #key;

  constructor(base, key) {
    this.#base = `${base}/api/v2`;
    this.#key = key;
  }

  /** A GET is sent again after a 5xx, or when the connection broke. */
  async get(path) {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#send('GET', path).catch(error => ({ status: null, error }));
      const isWorthAnother = answer.status === null || answer.status >= 500;
      if (isWorthAnother && attempt < TRIES) await sleep(PAUSE_MS);
      else if (answer.error) throw answer.error;
      else return answer;
    }
  }

  /** A POST is sent again only after a 429, when it says so. */
  async post(path, body, headers = {}) {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#send('POST', path, body, headers);
      if (answer.status !== 429 || attempt === TRIES) return answer;
      await sleep(Math.min(MOST_PAUSE_MS, 1000 * Number(answer.headers['retry-after'] ?? 0)));
    }
  }

  async #send(method, path, body, headers) {
    const entry = { method, path, body: body ?? null, status: null, answer: null };
    this.journal.push(entry);
    const response = await fetch(this.#base + path, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const raw = await response.text();
    Object.assign(entry, { status: response.status, answer: raw === '' ? null : (parsed(raw) ?? raw) });
    return { status: response.status, headers: Object.fromEntries(response.headers), body: parsed(raw), raw };
  }
}

/** @throws Error that names the status, unless it is one of 2xx or one of `others`. */
function accepted(answer, what, others = []) {
  const isFine = (answer.status >= 200 && answer.status < 300) || others.includes(answer.status);
  if (!isFine) throw new Error(`${what}: ${answer.status} ${answer.raw}`);
  return answer;
}

const SETTLED = ['completed', 'timed_out', 'interrupted', 'failed', 'idle'];

/** Runs a session to its end (`new` creates one) and returns its outcome. */
export async function runSession({ base, asked = 'new', key = '', waitSeconds = '20' }) {
  const wire = new Wire(base.replace(/\/+$/, ''), key);
  const outcome = {
    session: null,
    status: null,
    answer: null,
    error: null,
    events: [],
    journal: wire.journal,
  };
  try {
    outcome.session = asked === 'new' ? await create(wire) : asked;
    await untilSettled({ wire, outcome, waitSeconds, pending: new Pending() });
  } catch (error) {
    outcome.error = error.message;
  }
  return outcome;
}

async function create(wire) {
  const body = {
    agent: { name: 'client', description: 'Answers with its tools', environments: [], tools: declared },
    messages: [{ type: 'user_message', message: 'Where is my order?' }],
  };
  const answer = await wire.post('/sessions', body, { 'idempotency-key': randomUUID() });
  return accepted(answer, 'create').body.id;
}

async function untilSettled({ wire, outcome, waitSeconds, pending }) {
  const path = `/sessions/${encodeURIComponent(outcome.session)}`;
  for (;;) {
    const waiting = `from_index=${outcome.events.length}&include_events=true&wait_for_seconds=${waitSeconds}`;
    const changes = accepted(await wire.get(`${path}/changes?${waiting}`), 'changes').body;
    for (const event of changes?.new_events ?? []) {
      outcome.events.push(event);
      pending.apply(event);
    }
    outcome.status = accepted(await wire.get(`${path}/status`), 'status').body.status;
    if (SETTLED.includes(outcome.status)) break;
    if (outcome.status === 'awaiting_tool_results') await answerCalls(wire, path, pending);
  }
  const whole = accepted(await wire.get(`${path}/changes?from_index=0&include_events=false`), 'changes').body;
  outcome.answer = whole?.answer ?? null;
}

async function answerCalls(wire, path, pending) {
  const results = await Promise.all(pending.take().map(settled));
  if (results.length === 0) return;
  const body = results.length === 1 ? results[0] : { type: 'batch', results };
  accepted(await wire.post(`${path}/tool_results`, body), 'tool_results', [409]);
}
