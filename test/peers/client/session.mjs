import { randomUUID } from 'node:crypto';
import { Pending } from './pending.mjs';
import { declared, settled } from './tools.mjs';
import { accepted, Wire } from './wire.mjs';

const SETTLED = ['completed', 'timed_out', 'interrupted', 'failed', 'idle'];

/** Goes through a session to its end; `new` creates one. What it then says of it. */
export async function lived({ base, asked = 'new', key = '', waitSeconds = '20' }) {
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
    agent: { name: 'client', tools: declared },
    messages: [{ role: 'user', content: 'Where is my order?' }],
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
