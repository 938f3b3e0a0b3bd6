import { setTimeout as sleep } from 'node:timers/promises';
import { Journal, ownOrigin, sendJson } from '../kit.mjs';
import { isConsent, showConsent, takeConsent } from './consent.mjs';
import { perform, tools } from './operations.mjs';

const PAUSES_MS = [100, 200, 400, 800, 1600];

/** Tries again after a 5xx or a broken connection; any other answer is final. `post` gives the status. */
async function deliver(journal, url, message, post = postByFetch) {
  const attempt = () => isSettled(journal, { url, raw: JSON.stringify(message) }, post);
  for (const pause of PAUSES_MS) {
    if (await attempt()) return;
    await sleep(pause);
  }
  await attempt();
}

async function isSettled(journal, { url, raw }, post) {
  const headers = { 'content-type': 'application/json' };
  const entry = journal.add('delivery', { url, headers, raw });
  try {
    entry.status = await post(url, headers, raw);
    return entry.status < 500;
  } catch (error) {
    entry.error = String(error.cause ?? error);
    return false;
  }
}

async function postByFetch(url, headers, body) {
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
  await response.arrayBuffer();
  return response.status;
}

const open = new Set();

/** One invocation: how to say something about it, and whether it is still wanted. */
export class Call {
  #journal;
  #ending = new AbortController();

  constructor(invocation, { journal, origin }) {
    this.invocation = invocation;
    this.origin = origin;
    this.#journal = journal;
    open.add(this);
  }

  /** Aborted by a cancel of the call, or by the end of its thread. */
  get signal() {
    return this.#ending.signal;
  }

  result(outcome) {
    return this.send('tool_result', { ...this.#names, ...outcome });
  }

  /** Leaves the call pending: on the user, not on us. */
  wait(type, fields) {
    return this.send(type, { ...this.#names, ...fields });
  }

  event(fields, post) {
    return this.send('subscription_event', { tool_call_id: this.invocation.id, ...fields }, post);
  }

  send(type, fields, post) {
    const { group_id, callback_url } = this.invocation;
    return deliver(this.#journal, callback_url, { type, group_id, ...fields }, post);
  }

  /** Nothing more will be said. */
  leave() {
    open.delete(this);
  }

  endIf(thread, id) {
    const { invocation } = this;
    if (invocation.group_id === thread && (id === undefined || invocation.id === id)) this.#ending.abort();
  }

  get #names() {
    const { id, call_id } = this.invocation;
    return { id, call_id };
  }
}

/** A cancelled call, or without an id the whole thread. */
export function end(thread, id) {
  for (const call of open) call.endIf(thread, id);
}

const MIGRATIONS = {
  moves: () => ({ status: 200, text: '' }),
  fails: session => ({ status: 409, text: `Session ${session} is busy. Try again in 5 seconds.` }),
};

function migrationOf(name) {
  if (name && !Object.hasOwn(MIGRATIONS, name)) throw new Error(`MIGRATION=${name} is not known`);
  return {
    /** What the toolset says of it; null where nothing can be moved. */
    migration: name ? { needsMigration: true } : null,
    migrate: body => migrate(body, MIGRATIONS[name]),
  };
}

function migrate(body, move) {
  if (typeof body?.session_id !== 'string' || typeof body.destination_url !== 'string')
    return { status: 400, text: 'session_id and destination_url are required.' };
  return move(body.session_id);
}

const NOTICES = {
  '/invoke': 'invocation',
  '/close_thread': 'close_thread',
  '/cancel_tool_call': 'cancel_tool_call',
};

/** Answers as the tool does, see ../README.md. */
export function plainTool({ MIGRATION }) {
  const journal = new Journal();
  const { migration, migrate } = migrationOf(MIGRATION);

  const handle = async (request, response) => {
    if (request.method !== 'POST') await show(request, response);
    else if (isConsent(request.url)) await hear(request, response);
    else if (request.url === '/migrate' && migration) await move(request, response);
    else await take(request, response);
  };
  return Object.assign(handle, { entries: journal.entries });

  async function show(request, response) {
    if (request.url === '/__log') return sendJson(response, journal.entries);
    if (isConsent(request.url)) return showConsent(request.url, response);
    if (request.url !== '/.well-known/rap-toolset') return response.writeHead(404).end();
    await journal.receive('discovery', request);
    sendJson(response, { name: 'plain-tool', endpoint: `${ownOrigin(request)}/invoke`, tools, ...migration });
  }

  async function take(request, response) {
    const what = NOTICES[request.url];
    if (!what) return response.writeHead(404).end();
    // The protocol wants the acknowledgement at once, so this tool does not even wait for the body.
    response.writeHead(200).end();
    const { body } = await journal.receive(what, request);
    if (what === 'close_thread') end(body?.thread_id);
    if (what === 'cancel_tool_call') end(body?.thread_id, body?.tool_call_id);
    if (what === 'invocation' && body?.callback_url) await answer(body, ownOrigin(request));
  }

  async function answer(invocation, origin) {
    const call = new Call(invocation, { journal, origin });
    await perform(invocation.operation, invocation.arguments, call);
    call.leave();
  }

  async function hear(request, response) {
    const { raw } = await journal.receive('consent', request);
    takeConsent(request.url, raw, response);
  }

  async function move(request, response) {
    const { body } = await journal.receive('migrate', request);
    const { status, text } = migrate(body);
    response.writeHead(status, { 'content-type': 'text/plain' }).end(text);
  }
}
