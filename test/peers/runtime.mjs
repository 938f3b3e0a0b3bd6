import { randomUUID } from 'node:crypto';
import { once, setMaxListeners } from 'node:events';
import { createServer } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { answer, parsed, statusOf, take } from './kit.mjs';
import { visitConsent } from './runtime/browser.mjs';
import {
  cancelFaults,
  closeFaults,
  faultsOf,
  migrationFaults,
  openEndsOf,
  strayFaults,
  toolsetFaults,
} from './runtime/rules.mjs';
import { exchange, postJson } from './runtime/wire.mjs';

/** Where callbacks arrive. Each path is a mailbox: of one call, unless calls were given the same path. */
class Listener {
  /** What came to a path that no one was given. */
  strays = [];
  #mailboxes = new Map();
  #server = createServer((request, response) => {
    this.#receive(request, response).catch(() => response.destroy());
  });

  async open() {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.origin = `http://127.0.0.1:${this.#server.address().port}`;
  }

  /** `answers`: a list that ends in 200 for ever, or what says it for each callback. */
  expect(path, call, answers) {
    const { calls } = this.#mailboxes.get(path) ?? { calls: [] };
    this.#mailboxes.set(path, { calls: [...calls, call], answers: answers ?? [], count: 0 });
  }

  close() {
    this.#server.close().closeAllConnections();
  }

  async #receive(request, response) {
    const arrivedAt = performance.now();
    const mailbox = this.#mailboxes.get(request.url) ?? null;
    const count = mailbox ? mailbox.count++ : 0;
    const planned = mailbox && Array.isArray(mailbox.answers) ? (mailbox.answers[count] ?? 200) : null;
    const callback = { ...letter(request), ...contents(await take(request, planned)) };
    const call = mailbox && addressee(mailbox.calls, callback.body);
    const how = await (planned ?? mailbox?.answers(callback, count) ?? 404);
    Object.assign(callback, { answered: how, status: statusOf(how) });
    if (call) await file(callback, call, arrivedAt);
    else this.strays.push(callback);
    await answer(response, how);
  }
}

function letter({ method, url, headers }) {
  return { method, url, headers, at: Date.now() };
}

function contents(bytes) {
  const raw = bytes.toString();
  return { bytes, raw, body: parsed(raw) };
}

/**
 * What was sent before a callback is here before it, but perhaps not read yet:
 * after two turns of the event loop an acknowledgement that is still missing was sent later.
 */
async function file(callback, call, arrivedAt) {
  for (let turns = 0; !call.isAcknowledged && turns < 2; turns += 1) await turn();
  call.take(Object.assign(callback, { ms: arrivedAt - call.startedAt, beforeAck: !call.isAcknowledged }));
}

/** By the names in the message where a path has several calls. */
function addressee(calls, body) {
  if (calls.length === 1 || body === null) return calls[0];
  const ofThread = calls.filter(({ invocation }) => invocation.group_id === body.group_id);
  return (
    ofThread.find(({ invocation }) => invocation.id === (body.id ?? body.tool_call_id)) ??
    ofThread[0] ??
    calls[0]
  );
}

/** For what comes in the end, on a busy machine too. */
const PATIENCE_MS = 120_000;

/** One invocation and all that became of it. */
export class Call {
  /** `{status, ms, headers, body, ended}`; `{status: null, error}` where no answer came; null until then. */
  ack = null;
  /** From the head of the acknowledgement on. */
  isAcknowledged = false;
  callbacks = [];
  /** When a cancel notice for it, or the end of its thread, had been acknowledged: ms since its start. */
  endedMs = null;
  /** What was POSTed to a `response_url`: `{selected, status, body}`. */
  selections = [];
  startedAt = performance.now();
  #watchers = new Set();
  #handedOut = 0;

  constructor(invocation, secrets) {
    this.invocation = invocation;
    this.secrets = secrets;
  }

  take(callback) {
    this.callbacks.push(callback);
    for (const watcher of [...this.#watchers]) watcher.look();
  }

  /** What is wrong so far, as `{id, why}`. */
  get faults() {
    return faultsOf(this);
  }

  /** The same once nothing more is expected: no result, or a delivery that was given up at once, are faults too. */
  verdict() {
    return [...faultsOf(this), ...openEndsOf(this)];
  }

  /** The first callback, past or future, that fits: a type, or a test of the callback. @throws Error without success */
  waitFor(fits, withinMs = PATIENCE_MS) {
    const test = typeof fits === 'function' ? fits : ({ body }) => body?.type === fits;
    return this.#first(() => this.callbacks.find(test), `a callback that fits ${fits}`, withinMs);
  }

  /** The callback after the one that was given last. */
  async next(withinMs = PATIENCE_MS) {
    const index = this.#handedOut;
    this.#handedOut += 1;
    return this.#first(() => this.callbacks[index], `callback ${index + 1}`, withinMs);
  }

  /** The first `tool_result` that was answered with a 2xx. */
  result(withinMs = PATIENCE_MS) {
    return this.waitFor(({ body, status }) => body?.type === 'tool_result' && isTaken(status), withinMs);
  }

  /** Ends every wait: the runtime is going. */
  leave() {
    for (const watcher of [...this.#watchers]) watcher.fail('the runtime was closed');
  }

  #first(find, what, withinMs) {
    const found = find();
    if (found) return Promise.resolve(found);
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        this.#watchers.delete(watcher);
      };
      const watcher = {
        look: () => {
          const callback = find();
          if (!callback) return;
          stop();
          resolve(callback);
        },
        fail: why => {
          stop();
          reject(new Error(`${what}: ${why}; ${this.#summary()}`));
        },
      };
      const timer = setTimeout(() => watcher.fail(`none within ${withinMs} ms`), withinMs);
      this.#watchers.add(watcher);
    });
  }

  #summary() {
    const came = this.callbacks.map(({ raw, answered }) => `${raw.slice(0, 200)} (answered ${answered})`);
    return `acknowledged ${this.ack?.status}, received ${came.length ? came.join(', ') : 'nothing'}`;
  }
}

function isTaken(status) {
  return status >= 200 && status < 300;
}

/** `secrets`: texts that no callback may contain; the values of credential headers are watched for anyway. */
export async function openRuntime({ secrets = [] } = {}) {
  const listener = new Listener();
  await listener.open();
  return new Runtime(listener, secrets);
}

const CREDENTIAL = /^(authorization|cookie|x-api-key)$/i;

class Runtime {
  calls = [];
  #listener;
  #secrets;
  #toolsets = new Map();
  #faults = [];
  #closing = new AbortController();

  constructor(listener, secrets) {
    this.#listener = listener;
    this.#secrets = secrets;
    setMaxListeners(0, this.#closing.signal); // every call that waits listens
    this.url = listener.origin;
  }

  get strays() {
    return this.#listener.strays;
  }

  /** What any tool has done wrong so far, as `{id, why}`. */
  get faults() {
    return [...this.#ownFaults(), ...this.calls.flatMap(call => call.faults)];
  }

  /** The same once nothing more is expected. */
  verdict() {
    return [...this.#ownFaults(), ...this.calls.flatMap(call => call.verdict())];
  }

  #ownFaults() {
    return [...this.#faults, ...strayFaults(this.calls, this.strays)];
  }

  /** The toolset, as it was published. @throws Error where none exists */
  async discover(base) {
    const url = `${rootOf(base)}/.well-known/rap-toolset`;
    const answer = await exchange('GET', url, {
      headers: { accept: 'application/json' },
      signal: this.#closing.signal,
    });
    const toolset = parsed(answer.body);
    this.#faults.push(...toolsetFaults(answer, toolset));
    if (answer.status !== 200 || !toolset)
      throw new Error(`${url} answered ${answer.status}: ${answer.body}`);
    this.#toolsets.set(base, toolset);
    return toolset;
  }

  /** Comes back once the call is acknowledged, or once it is clear that it will not be: see `ack`. */
  async invoke(base, operation, args, options = {}) {
    const endpoint = options.endpoint ?? (this.#toolsets.get(base) ?? (await this.discover(base))).endpoint;
    const path = options.callbackPath ?? `/back/${randomUUID()}/?token=a%2Fb&n=1`;
    const invocation = {
      operation,
      arguments: args,
      id: options.id ?? `call_${randomUUID()}`,
      call_id: options.callId,
      callback_url: options.callbackUrl ?? this.url + path,
      group_id: options.groupId ?? `thread_${randomUUID()}`,
      thread_ancestors: options.ancestors,
      user_id: options.userId,
      ...options.fields,
    };
    const call = new Call(invocation, [...this.#secrets, ...credentials(options.headers)]);
    this.#listener.expect(path, call, options.answers);
    this.calls.push(call);
    call.ack = await this.#acknowledgement(call, endpoint, options);
    return call;
  }

  async #acknowledgement(call, endpoint, { body = call.invocation, headers, ackWithinMs }) {
    const onHead = () => {
      call.isAcknowledged = true;
    };
    const options = { headers, withinMs: ackWithinMs, signal: this.#closing.signal, onHead };
    try {
      return await postJson(endpoint, body, options);
    } catch (error) {
      return { status: null, ms: null, headers: {}, body: '', ended: true, error: error.message };
    }
  }

  async closeThread(base, groupId) {
    const answer = await this.#post(`${rootOf(base)}/close_thread`, { thread_id: groupId });
    this.#faults.push(...closeFaults(answer));
    this.#mark(({ group_id }) => group_id === groupId);
    return answer;
  }

  async cancel(base, groupId, id) {
    const answer = await this.#post(`${rootOf(base)}/cancel_tool_call`, {
      thread_id: groupId,
      tool_call_id: id,
    });
    this.#faults.push(...cancelFaults(answer));
    this.#mark(invocation => invocation.group_id === groupId && invocation.id === id);
    return answer;
  }

  #mark(isMeant) {
    for (const call of this.calls.filter(({ invocation }) => isMeant(invocation)))
      call.endedMs ??= performance.now() - call.startedAt;
  }

  /** Answers the latest question of a call with an index into its choices, good or bad. */
  async choose(call, selected) {
    const { body } = call.callbacks.findLast(callback => callback.body?.type === 'user_choice');
    const answer = await this.#post(body.response_url, { id: call.invocation.id, selected });
    call.selections.push({ selected, status: answer.status, body: answer.body });
    return answer;
  }

  async migrate(base, sessionId, destinationUrl) {
    const message = { session_id: sessionId, destination_url: destinationUrl };
    const answer = await this.#post(`${rootOf(base)}/migrate`, message);
    this.#faults.push(...migrationFaults(answer));
    return answer;
  }

  visitConsent = visitConsent;

  #post(url, message) {
    return postJson(url, message, { signal: this.#closing.signal });
  }

  close() {
    this.#closing.abort();
    for (const call of this.calls) call.leave();
    this.#listener.close();
  }

  async [Symbol.asyncDispose]() {
    this.close();
  }
}

function rootOf(base) {
  return base.replace(/\/$/, '');
}

function credentials(headers = {}) {
  const values = Object.entries(headers).filter(([name]) => CREDENTIAL.test(name));
  return values.map(([, value]) => value.replace(/^\w+ /, ''));
}

/**
 * One call against the tool server at `baseUrl`. Comes back with the first `tool_result`, with an
 * acknowledgement other than 200, or when the limit is over: the callbacks tell which.
 * A choice is answered with its default, as by an absent user.
 * @throws Error without a toolset or an acknowledgement
 */
export async function invokeOnce(baseUrl, operation, args, { callId, limitMs = 60_000 } = {}) {
  const runtime = await openRuntime();
  try {
    const call = await runtime.invoke(baseUrl, operation, args, { callId, ackWithinMs: limitMs });
    if (call.ack.error) throw new Error(call.ack.error);
    if (call.ack.status === 200) await resultOrDefault(runtime, call, limitMs).catch(() => {});
    return { ack: call.ack, callbacks: call.callbacks, invocation: call.invocation };
  } finally {
    runtime.close();
  }
}

async function resultOrDefault(runtime, call, limitMs) {
  const isResult = ({ body }) => body?.type === 'tool_result' && body.id === call.invocation.id;
  const first = await call.waitFor(
    callback => isResult(callback) || callback.body?.type === 'user_choice',
    limitMs,
  );
  if (isResult(first)) return;
  await runtime.choose(call, first.body.default);
  await call.waitFor(isResult, limitMs);
}
