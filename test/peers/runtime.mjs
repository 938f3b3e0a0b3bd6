import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { openListener } from './runtime/listener.mjs';

/**
 * One call against the tool server at `baseUrl`. Comes back with the first `tool_result`, with an
 * acknowledgement other than 200, or when the limit is over: the callbacks tell which.
 */
export async function invokeOnce(baseUrl, operation, args, { callId, limitMs = 10_000 } = {}) {
  const { endpoint } = await discover(baseUrl);
  const listener = await openListener();
  const invocation = {
    operation,
    arguments: args,
    id: `call_${randomUUID()}`,
    call_id: callId,
    callback_url: listener.callbackUrl,
    group_id: `thread_${randomUUID()}`,
  };
  const outgoing = send(endpoint, invocation);
  try {
    const ack = await acknowledgement(outgoing, limitMs);
    if (ack.status === 200) await listener.resultWithin(limitMs, invocation.id);
    return { ack, callbacks: listener.callbacks, invocation };
  } finally {
    outgoing.on('error', () => {}).destroy();
    listener.close();
  }
}

async function discover(baseUrl) {
  const url = `${baseUrl.replace(/\/$/, '')}/.well-known/rap-toolset`;
  const response = await fetch(url, { headers: { accept: 'application/json' }, redirect: 'manual' });
  if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
  return response.json();
}

/**
 * A tool may acknowledge before it has read everything, and the body has to be sent to its end even so:
 * Node's `fetch` would hang up.
 */
function send(url, message) {
  const headers = { 'content-type': 'application/json', connection: 'keep-alive' };
  const outgoing = request(url, { method: 'POST', agent: false, headers });
  outgoing.end(JSON.stringify(message));
  return outgoing;
}

/** Its body means nothing, and may never end: it is not waited for. */
async function acknowledgement(outgoing, limitMs) {
  const [answer] = await once(outgoing, 'response', { signal: AbortSignal.timeout(limitMs) });
  answer.resume();
  return { status: answer.statusCode, headers: answer.headers };
}
