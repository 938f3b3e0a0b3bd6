import { Content } from '../exchange/content.js';
import type { RequestEvent } from '../exchange/events.js';
import type { Log } from '../exchange/log.js';
import { type HttpAnswer, type HttpClient, type HttpRequest, TransportError } from '../transport/client.js';
import { explainFailure } from '../transport/explain-failure.js';

/** What the runtime talks through: a client, the log it is told to, and the headers that one origin may see. */
export interface Wire {
  readonly client: HttpClient;
  readonly log: Log;
  readonly credentials: Credentials;
}

/** Headers the user gave for one origin; no other origin gets them (threats, row 12). */
export interface Credentials {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a request is for, in the log's terms. */
export interface About {
  readonly purpose: RequestEvent['purpose'];
  readonly attempt: number;
  readonly calls?: string[];
  readonly thread?: string;
}

/**
 * Sends one request and tells the log the request and what became of it.
 * @throws ProtocolCliError `unreachable` or `refused-address`, saying which address and why.
 */
export async function recordedSend(wire: Wire, about: About, request: HttpRequest): Promise<HttpAnswer> {
  try {
    return await send(wire, about, request);
  } catch (error) {
    throw error instanceof TransportError ? explainFailure(error, request.url, 'tool') : error;
  }
}

/** As {@link recordedSend}; a failure on the wire stays a {@link TransportError}. */
export async function send(
  { client, log, credentials }: Wire,
  about: About,
  request: HttpRequest,
): Promise<HttpAnswer> {
  const leg = log.leg();
  const concerns = {
    ...(about.calls && { calls: about.calls }),
    ...(about.thread !== undefined && { thread: about.thread }),
  };
  const headers = { ...request.headers, ...headersFor(credentials, request.url) };
  const { method, url, body } = request;
  const content = body && { body: new Content(body) };
  const { purpose, attempt } = about;
  log.emit({
    kind: 'request',
    leg,
    from: 'runtime',
    to: 'tool',
    purpose,
    method,
    url,
    headers,
    attempt,
    ...concerns,
    ...content,
  });
  try {
    const answer = await client.send({ ...request, headers });
    const read = answer.body.length > 0 && { body: new Content(answer.body) };
    log.emit({
      kind: 'response',
      leg,
      status: answer.status,
      headers: { ...answer.headers },
      ...concerns,
      ...read,
    });
    return answer;
  } catch (error) {
    const { phase, code } = error instanceof TransportError ? error : { phase: 'send', code: 'UNKNOWN' };
    log.emit({ kind: 'broken', leg, phase, code, ...concerns });
    throw error;
  }
}

function headersFor({ origin, headers }: Credentials, url: string): Readonly<Record<string, string>> {
  return URL.canParse(url) && new URL(url).origin === origin ? headers : {};
}
