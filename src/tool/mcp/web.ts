import type { Answer, Incoming } from '../../transport/server.js';

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

/** Of JSON-RPC; `-32000` is a server's own. */
export function rpcError(status: number, message: string, code = -32_000, id: unknown = null): Answer {
  const body = JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
  return { status, headers: { 'Content-Type': 'application/json' }, body };
}
