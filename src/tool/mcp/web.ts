import type { Answer, Incoming, Reply } from '../../transport/server.js';

/** A request as the web's API has it, without its body: that is read already. */
export function webRequest({ method, target, headers }: Incoming, signal: AbortSignal): Request {
  const fields = Object.entries(headers).flatMap(([name, value = '']): [string, string][] =>
    [value].flat().map(each => [name, each]),
  );
  return new Request(`http://${headers.host}${target}`, { method, headers: fields, signal });
}

/** A response as our server sends it, whole. A stream would never end, and is none of what is served here. */
export async function answerOf(response: Response): Promise<Answer> {
  const headers = Object.fromEntries(response.headers);
  if (headers['content-type']?.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return rpcError(405, 'streams are not served here');
  }
  return { status: response.status, headers, body: new Uint8Array(await response.arrayBuffer()) };
}

/** The answers to several messages as one; to notifications there is none. What went wrong with one, went wrong with all. */
export function batchOf(replies: readonly Reply[]): Reply {
  const answers = replies.flatMap(reply => (reply === 'reset' ? [] : [reply]));
  if (answers.length < replies.length) return 'reset';
  const fault = answers.find(({ status }) => status >= 300);
  if (fault) return fault;
  const bodies = answers.flatMap(({ body = '' }) => (body.length > 0 ? [Buffer.from(body).toString()] : []));
  if (bodies.length === 0) return { status: 202 };
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: `[${bodies.join()}]` };
}

/** Of JSON-RPC; `-32000` is a server's own. */
export function rpcError(status: number, message: string, code = -32_000, id: unknown = null): Answer {
  const body = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
  return { status, headers: { 'Content-Type': 'application/json' }, body };
}
