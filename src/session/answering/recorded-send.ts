import { Content } from '../../exchange/content.js';
import type { RequestEvent } from '../../exchange/events.js';
import type { Log } from '../../exchange/log.js';
import type { Clock } from '../../system/clock.js';
import { REDACTED, redactHeaders } from '../../text/redact.js';
import {
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  TransportError,
} from '../../transport/client.js';

/** What a session is asked and told through. */
export interface PlatformDesk {
  readonly client: HttpClient;
  readonly log: Log;
  readonly clock: Clock;
  /** Of the session, without a slash at its end: `…/api/v2/sessions/{id}`. */
  readonly url: string;
  /** Its id. */
  readonly thread: string;
  readonly key: string;
  /** Aborted when a person wants to stop. */
  readonly signal: AbortSignal;
}

/** What a request is for, in the log's terms; `calls` are keys. */
export interface About {
  readonly purpose: RequestEvent['purpose'];
  readonly attempt: number;
  readonly calls?: string[];
}

/**
 * Sends one request with the key, and tells the log the request, without the key, and what became of it.
 * @throws TransportError wherever there is no answer.
 */
export async function recordedSend(
  desk: PlatformDesk,
  about: About,
  request: HttpRequest,
): Promise<HttpAnswer> {
  const { client, log, thread, key, signal } = desk;
  const leg = log.leg();
  const concerns = { thread, ...(about.calls && { calls: about.calls }) };
  const { method, url, body } = request;
  const headers = { ...request.headers, accept: 'application/json' };
  log.emit({
    kind: 'request',
    leg,
    from: 'client',
    to: 'platform',
    purpose: about.purpose,
    dialect: 'session',
    method,
    url,
    headers: { ...headers, authorization: REDACTED },
    attempt: about.attempt,
    ...concerns,
    ...(body && { body: new Content(body) }),
  });
  try {
    const sent = { signal, ...request, headers: { ...headers, authorization: `Bearer ${key}` } };
    const answer = await client.send(sent);
    const read = answer.body.length > 0 && { body: new Content(answer.body) };
    const { status } = answer;
    log.emit({ kind: 'response', leg, status, headers: redactHeaders(answer.headers), ...concerns, ...read });
    return answer;
  } catch (error) {
    const { phase, code } = error instanceof TransportError ? error : { phase: 'send', code: 'UNKNOWN' };
    log.emit({ kind: 'broken', leg, phase, code, ...concerns });
    throw error;
  }
}
