import { EventEmitter, once, setMaxListeners } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import { parsed, readBody } from './kit.mjs';
import { exchange } from './runtime/wire.mjs';

/** What was sent, and what came back for it. */
class Accounts extends EventEmitter {
  crossed = 0;
  twice = 0;
  disordered = 0;
  refusals = new Map();
  #open;

  constructor({ calls, threads, keyed, own }) {
    super();
    this.setMaxListeners(0);
    this.expectsText = keyed || own !== undefined;
    this.entries = Array.from({ length: calls }, (_, index) => entryOf(index, threads, keyed));
    this.byPath = new Map(this.entries.map(entry => [entry.path, entry]));
    this.#open = calls;
  }

  byThread() {
    const threads = new Map();
    for (const entry of this.entries)
      threads.set(entry.group_id, [...(threads.get(entry.group_id) ?? []), entry]);
    return [...threads.values()];
  }

  /** A call that was not acknowledged is not waited for. */
  refused(entry, status) {
    this.#settle(entry);
    this.refusals.set(status, (this.refusals.get(status) ?? 0) + 1);
  }

  /** A callback that came to `path`. */
  take(path, body) {
    const entry = this.byPath.get(path);
    const isOwn =
      entry &&
      body?.id === entry.id &&
      body.group_id === entry.group_id &&
      body.call_id === `also_${entry.id}`;
    if (!isOwn || body.type !== 'tool_result') this.crossed += 1;
    else if (entry.isDelivered) this.twice += 1;
    else this.#deliver(entry, body.text);
  }

  #deliver(entry, text) {
    entry.isDelivered = true;
    if (this.expectsText && text !== entry.text) this.disordered += 1;
    this.#settle(entry);
  }

  #settle(entry) {
    if (entry.isSettled) return;
    entry.isSettled = true;
    this.#open -= 1;
    this.emit(entry.id);
    if (this.#open === 0) this.emit('settled');
  }

  async arrived({ id, isSettled }, deadline) {
    if (!isSettled) await once(this, id, { signal: deadline }).catch(() => {});
  }

  async settled(deadline) {
    if (this.#open > 0) await once(this, 'settled', { signal: deadline }).catch(() => {});
  }

  summary() {
    const count = fits => this.entries.filter(fits).length;
    const sent = count(({ isSent }) => isSent);
    const delivered = count(({ isDelivered }) => isDelivered);
    const { twice, crossed, disordered } = this;
    const refusals = Object.fromEntries(this.refusals);
    const acked = count(({ isAcked }) => isAcked);
    return { sent, acked, delivered, missing: sent - delivered, twice, crossed, disordered, refusals };
  }
}

function entryOf(index, threads, keyed) {
  const thread = index % threads;
  const count = Math.floor(index / threads) + 1;
  const id = `storm_${thread}_${count}`;
  const state = { isSent: false, isAcked: false, isDelivered: false, isSettled: false };
  const text = keyed ? String(count) : `text of ${id}`;
  return { id, group_id: `thread_${thread}`, path: `/storm/${thread}/${count}/?of=${index}`, text, ...state };
}

/** Posts over so many connections, which stay open. */
function dispatcher(endpoint, connections) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  return {
    post: message => post(agent, endpoint, JSON.stringify(message)),
    close: () => agent.destroy(),
  };
}

async function post(agent, endpoint, body) {
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
  const outgoing = request(endpoint, { method: 'POST', agent, headers });
  outgoing.end(body);
  const [answer] = await once(outgoing, 'response');
  answer.resume();
  return answer.statusCode;
}

/** Answers 200 to everything and enters it under the path that it came to. */
async function openInbox(accounts) {
  const server = createServer(async (request, response) => {
    const raw = await readBody(request).catch(() => null);
    response.end();
    if (raw) accounts.take(request.url, parsed(raw.toString()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close: () => server.close().closeAllConnections(),
  };
}

const LINGER_MS = 150;

/**
 * Many calls over many threads, each with a callback URL of its own, and the account of what came back to where.
 * `keyed` makes the calls of a thread one after another and expects the texts 1, 2, 3… in each thread.
 * `own` names an argument that gets a text of its own in each call, which the result must say back.
 */
export async function storm(base, operation, options = {}) {
  const {
    args = {},
    calls = 2000,
    connections = 50,
    threads = 100,
    keyed = false,
    own,
    withinMs = 60_000,
  } = options;
  const accounts = new Accounts({ calls, threads, keyed, own });
  const inbox = await openInbox(accounts);
  const dispatch = dispatcher(options.endpoint ?? (await endpointOf(base)), connections);
  const startedAt = performance.now();
  const deadline = AbortSignal.timeout(withinMs);
  setMaxListeners(0, deadline);
  const send = entry => invoke(accounts, dispatch, inbox.url, { operation, args, own }, entry);
  try {
    await (keyed ? inTurns(accounts, send, deadline) : atOnce(accounts, send));
    await accounts.settled(deadline);
    const ms = Math.round(performance.now() - startedAt);
    await lingered();
    return { ...accounts.summary(), ms };
  } finally {
    dispatch.close();
    inbox.close();
  }
}

function atOnce(accounts, send) {
  return Promise.all(accounts.entries.map(send));
}

/** Threads run side by side; within one a call waits for the result of the one before. */
function inTurns(accounts, send, deadline) {
  return Promise.all(
    accounts.byThread().map(async entries => {
      for (const entry of entries) {
        await send(entry);
        await accounts.arrived(entry, deadline);
      }
    }),
  );
}

async function invoke(accounts, dispatch, url, { operation, args, own }, entry) {
  const { id, group_id, path } = entry;
  const mine = own ? { [own]: entry.text } : {};
  entry.isSent = true;
  const message = {
    operation,
    arguments: { ...args, ...mine },
    id,
    call_id: `also_${id}`,
    callback_url: url + path,
    group_id,
  };
  const status = await dispatch.post(message).catch(error => error.message);
  if (status === 200) entry.isAcked = true;
  else accounts.refused(entry, status);
}

async function endpointOf(base) {
  const { body } = await exchange('GET', `${base.replace(/\/$/, '')}/.well-known/rap-toolset`);
  return JSON.parse(body).endpoint;
}

/** A second delivery has time to show. */
function lingered() {
  return new Promise(resolve => setTimeout(resolve, LINGER_MS));
}
