import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { parsed } from '../kit/json.mjs';
import { visitConsent } from './browser.mjs';
import { Call } from './call.mjs';
import { Listener } from './listener.mjs';
import { cancelFaults, closeFaults, migrationFaults } from './rules/notices.mjs';
import { strayFaults } from './rules/strays.mjs';
import { toolsetFaults } from './rules/toolset.mjs';
import { exchange, postJson } from './wire.mjs';

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
