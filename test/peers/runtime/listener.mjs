import { once } from 'node:events';
import { createServer } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { answer, statusOf, take } from '../kit/answers.mjs';
import { parsed } from '../kit/json.mjs';

/** Where callbacks arrive. Each path is a mailbox: of one call, unless calls were given the same path. */
export class Listener {
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
