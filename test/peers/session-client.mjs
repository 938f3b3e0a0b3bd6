/*
 * A client of agent sessions on fetch alone; it goes about it as the vendor's run helper does: reads what is new, then the
 * status; while results are awaited it runs the calls side by side and posts all of them in one body, bare for a single one.
 *
 *   session-client.mjs [BASE_URL [SESSION_ID | new]]
 *
 * The base is SESSION_URL unless given, the key API_KEY, the session SESSION_ID; `new`, or none, creates one.
 * WAIT_SECONDS is how long a question for news may wait, 20 unless told. Prints one line,
 * { session, status, answer, error, events, journal: [{ method, path, body, status, answer }] }; exit 1 where it failed.
 */
import { randomUUID } from 'node:crypto';
import { Pending } from './client/pending.mjs';
import { declared, settled } from './client/tools.mjs';
import { accepted, Wire } from './client/wire.mjs';

const SETTLED = ['completed', 'timed_out', 'interrupted', 'failed', 'idle'];
const { SESSION_URL, SESSION_ID, API_KEY = '', WAIT_SECONDS = '20' } = process.env;
const [base = SESSION_URL, asked = SESSION_ID ?? 'new'] = process.argv.slice(2);
const wire = new Wire(base.replace(/\/+$/, ''), API_KEY);
const pending = new Pending();
const outcome = { session: null, status: null, answer: null, error: null, events: [], journal: wire.journal };

try {
  outcome.session = asked === 'new' ? await create() : asked;
  await untilSettled(`/sessions/${encodeURIComponent(outcome.session)}`);
} catch (error) {
  outcome.error = error.message;
  process.exitCode = 1;
}
process.stdout.write(`${JSON.stringify(outcome)}\n`);

async function create() {
  const body = {
    agent: { name: 'client', tools: declared },
    messages: [{ role: 'user', content: 'Where is my order?' }],
  };
  const answer = await wire.post('/sessions', body, { 'idempotency-key': randomUUID() });
  return accepted(answer, 'create').body.id;
}

async function untilSettled(path) {
  for (;;) {
    const waiting = `from_index=${outcome.events.length}&include_events=true&wait_for_seconds=${WAIT_SECONDS}`;
    const changes = accepted(await wire.get(`${path}/changes?${waiting}`), 'changes').body;
    for (const event of changes?.new_events ?? []) {
      outcome.events.push(event);
      pending.apply(event);
    }
    outcome.status = accepted(await wire.get(`${path}/status`), 'status').body.status;
    if (SETTLED.includes(outcome.status)) break;
    if (outcome.status === 'awaiting_tool_results') await answerCalls(path);
  }
  const whole = accepted(await wire.get(`${path}/changes?from_index=0&include_events=false`), 'changes').body;
  outcome.answer = whole?.answer ?? null;
}

async function answerCalls(path) {
  const results = await Promise.all(pending.take().map(settled));
  if (results.length === 0) return;
  const body = results.length === 1 ? results[0] : { type: 'batch', results };
  accepted(await wire.post(`${path}/tool_results`, body), 'tool_results', [409]);
}
