import { type Agent, type IncomingHttpHeaders, request } from 'node:http';
import { buffer } from 'node:stream/consumers';

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface HttpAsk {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Uint8Array;
  readonly agent?: Agent;
}

/** One request with exactly these headers, besides what HTTP itself needs; JSON by default. */
export function ask(
  url: string,
  { method = 'POST', headers, body = '', agent }: HttpAsk = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const sending = request(url, {
      method,
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers },
      agent: agent ?? false,
    });
    sending.once('error', reject).once('response', response => {
      const { statusCode: status = 0, headers: answered } = response;
      buffer(response).then(
        bytes => resolve({ status, headers: answered, body: bytes.toString('utf8') }),
        reject,
      );
    });
    sending.end(body);
  });
}
