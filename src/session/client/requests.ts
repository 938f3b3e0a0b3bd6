import { Content } from '../../events/content.js';
import type { RequestEvent } from '../../events/events.js';
import type { Log } from '../../events/log.js';
import {
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  readRetryAfter,
  TransportError,
} from '../../http/client.js';
import type { Clock } from '../../system/drafts.js';
import { REDACTED, redactHeaders } from '../../util/redact.js';

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
interface About {
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

/** Whoever asks for more patience than this gets no more (RFC 9110, 10.2.3 sets no bound). */
const LONGEST_MS = 60_000;
const UNTOLD_MS = 1_000;
const FIRST_MS = 200;

type Headers = Readonly<Record<string, string>>;

/** How long a 429 asks to wait, in ms: its `Retry-After`, a second where none can be read; null for more than a minute. */
export function busyPauseMs(headers: Headers, now: Date): number | null {
  const asked = readRetryAfter(headers['retry-after'], now) ?? UNTOLD_MS;
  return asked > LONGEST_MS ? null : asked;
}

/** The pause after so many failures in a row, from 1: 200 ms, then twice that and so on, up to 10 s. */
export function failurePauseMs(failures: number): number {
  return Math.min(10_000, FIRST_MS * 2 ** (failures - 1));
}

/** What the answer to a GET says: it is asked again after a 5xx, and after a 429 (platforms). */
export function judgeGet(status: number): 'fine' | 'again' | 'busy' | 'refused' {
  if (status === 429) return 'busy';
  if (status >= 500) return 'again';
  return status >= 200 && status < 300 ? 'fine' : 'refused';
}

/**
 * What the answer to posted results says: only a 429 is sent again as it is (platforms).
 * `finished`: nobody wants them any more. `invalid`: some of them are not pending, or not valid.
 */
export function judgePost(
  status: number,
): 'taken' | 'finished' | 'busy' | 'invalid' | 'too-large' | 'refused' {
  if (status >= 200 && status < 300) return 'taken';
  switch (status) {
    case 409:
      return 'finished';
    case 413:
      return 'too-large';
    case 422:
      return 'invalid';
    case 429:
      return 'busy';
    default:
      return 'refused';
  }
}

/** Resolves after a time, or at once where the signal is aborted. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve();
    const leave = () => {
      cancel();
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const cancel = clock.after(ms, leave);
    signal.addEventListener('abort', leave);
  });
}
