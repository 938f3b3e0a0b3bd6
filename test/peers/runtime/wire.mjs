import { once } from 'node:events';
import { request } from 'node:http';

const BODY_LIMIT = 64 * 1024;
const BODY_WITHIN_MS = 500;

/**
 * One request on a connection of its own; redirects are not followed. `ms` is the time to the head of the answer.
 * The body is read for half a second and up to 64 KiB: `ended` tells whether that was all of it.
 * @throws Error when no answer came.
 */
export async function exchange(method, url, { headers = {}, body, withinMs = 60_000, signal, onHead } = {}) {
  const startedAt = performance.now();
  // A tool may answer before it has read everything: without keep-alive Node would hang up on the rest.
  const sent = { connection: 'keep-alive', ...headers };
  const outgoing = request(url, { method, headers: sent, agent: false, signal });
  outgoing.end(body);
  try {
    const [answer] = await once(outgoing, 'response', { signal: AbortSignal.timeout(withinMs) });
    onHead?.();
    const ms = performance.now() - startedAt;
    outgoing.on('error', () => {});
    return { status: answer.statusCode, headers: answer.headers, ms, ...(await readSome(answer)) };
  } catch (error) {
    outgoing.on('error', () => {}).destroy();
    const why = error.name === 'AbortError' ? `no answer within ${withinMs} ms` : error.message;
    throw new Error(`${method} ${url}: ${why}`, { cause: error });
  }
}

export function postJson(url, message, options = {}) {
  const body = typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message);
  const headers = { 'content-type': 'application/json', ...options.headers };
  return exchange('POST', url, { ...options, headers, body });
}

function readSome(answer) {
  const chunks = [];
  let size = 0;
  return new Promise(resolve => {
    const finish = ended => {
      clearTimeout(timer);
      if (!ended) answer.destroy();
      resolve({ body: Buffer.concat(chunks).toString(), ended });
    };
    const timer = setTimeout(finish, BODY_WITHIN_MS, false);
    answer.on('data', chunk => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > BODY_LIMIT) finish(false);
    });
    answer.once('end', () => finish(true)).once('error', () => finish(false));
  });
}
