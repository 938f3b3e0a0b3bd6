import * as z from 'zod/mini';
import { Content } from '../../events/content.js';
import type { Fact, RequestEvent } from '../../events/events.js';
import { type Log, recordRequest } from '../../events/log.js';
import {
  explainFailure,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  readRetryAfter,
  TransportError,
} from '../../http/client.js';
import { refusalIn } from '../../protocol/session.js';
import { validate } from '../../protocol/validate.js';
import type { Clock } from '../../system/clock.js';
import { ProtocolCliError } from '../../util/errors.js';
import { parseJson, readJson } from '../../util/json.js';
import { createRedactor, REDACTED, redactHeaders } from '../../util/redact.js';
import { cut } from '../../util/text.js';
import { readUrl } from '../../util/url.js';
import { visibleLine } from '../../util/visible.js';

/** A session on a platform, and the dependencies of its client. */
export interface SessionConnection {
  readonly client: HttpClient;
  readonly log: Log;
  readonly clock: Clock;
  /** Created by {@link sessionUrl}. */
  readonly url: string;
  readonly thread: string;
  readonly key: string;
  /** Aborted when the user stops the command. */
  readonly signal: AbortSignal;
}

/**
 * Returns the URL of a session, without a trailing slash. The base may end in `/api/v2`.
 * @throws ProtocolCliError `usage`
 */
export function sessionUrl(base: string, id: string): string {
  const url = readUrl(base);
  if (!url || !/^https?:$/.test(url.protocol)) throw invalidBase(`not an http or https URL: ${base}`);
  if (url.username !== '' || url.password !== '')
    throw invalidBase('credentials in a URL are not sent: give the key');
  if (url.search !== '' || url.hash !== '') throw invalidBase('the base URL has a query or a fragment');
  if (/^\.{0,2}$/.test(id)) throw new ProtocolCliError('usage', `invalid session id: "${id}"`);
  const path = url.pathname.replace(/\/+$/, '').replace(/\/api\/v2$/, '');
  return `${url.origin}${path}/api/v2/sessions/${encodeURIComponent(id.toWellFormed())}`;
}

function invalidBase(message: string): ProtocolCliError {
  const hint = 'A platform is given as http://host:port, without /api/v2.';
  return new ProtocolCliError('usage', message, { hint });
}

const MAX = {
  bytes: 64 * 1024 * 1024,
  errorBytes: 64 * 1024,
  /** Maximum length of quoted text, in characters. */
  text: 300,
  faults: 5,
  /** RFC 9110, 10.2.3 sets no limit for `Retry-After`. */
  retryAfterMs: 60_000,
};

const TIMEOUT_MS = 30_000;

const BUSY_MS = 1_000;

/** A wrong address should fail soon; a platform that was reached before may be unavailable for a minute. */
const TRIES = { first: 5, later: 10 };

/** Reads only the fields in use. Events are parsed one by one, so that an invalid one does not affect the others. */
const changesSchema = z.object({
  status: z.string(),
  error: z.optional(z.unknown()),
  answer: z.optional(z.unknown()),
  new_events: z.nullish(z.array(z.unknown())),
});

export type Changes = z.infer<typeof changesSchema>;

const statusSchema = z.object({ status: z.string() });

/** `lost`: the results may or may not have arrived. */
type PostAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: HttpAnswer['headers'];
      readonly refusal: ProtocolCliError;
    }
  | { readonly kind: 'lost'; readonly error: ProtocolCliError };

/** The API of one session (platforms). GETs are retried after 5xx, 429 and broken connections. */
export class PlatformClient {
  #wasReached = false;
  readonly #clean: (text: string) => string;

  constructor(readonly connection: SessionConnection) {
    this.#clean = createRedactor([connection.key]).text;
  }

  /**
   * Returns what is new since the event `from`; null on timeout, or if `signal` was aborted.
   * @throws ProtocolCliError `unreachable`, `platform-refused`, `bad-answer`, `interrupted`.
   */
  async changes(
    query: { readonly from: number; readonly waitSeconds: number; readonly withEvents?: boolean },
    signal?: AbortSignal,
  ): Promise<Changes | null> {
    const { from, waitSeconds, withEvents = true } = query;
    const path = `/changes?from_index=${from}&include_events=${withEvents}&wait_for_seconds=${waitSeconds}`;
    const answer = await this.#get('changes', path, TIMEOUT_MS + waitSeconds * 1_000, signal);
    return answer && answer.status !== 204 ? this.#read(changesSchema, answer.body, '/changes') : null;
  }

  /** @throws ProtocolCliError as {@link changes}. */
  async status(): Promise<string> {
    const answer = await this.#get('session', '/status', TIMEOUT_MS);
    return this.#read(statusSchema, answer?.body ?? new Uint8Array(0), '/status').status;
  }

  /** Posts results once. @param calls keys of their calls @throws ProtocolCliError `interrupted`. */
  async post(body: Uint8Array, calls: string[], attempt: number): Promise<PostAnswer> {
    const url = `${this.connection.url}/tool_results`;
    try {
      const answer = await this.#send(
        { purpose: 'tool_results', attempt, calls },
        {
          method: 'POST',
          url,
          headers: { 'content-type': 'application/json' },
          body,
          timeoutMs: TIMEOUT_MS,
          read: { maxBytes: MAX.errorBytes, partial: true },
        },
      );
      const { status, headers } = answer;
      return { kind: 'answered', status, headers, refusal: this.#refusal(answer, 'the posted results') };
    } catch (error) {
      return { kind: 'lost', error: this.#explain(error, url) };
    }
  }

  /**
   * Returns the pause that a 429 demands, in ms; default: a second.
   * @throws ProtocolCliError the refusal if the pause is longer than a minute.
   */
  busyMs(headers: HttpAnswer['headers'], { code, message }: ProtocolCliError): number {
    const asked = headers['retry-after'];
    const ms = readRetryAfter(asked, this.connection.clock.wall()) ?? BUSY_MS;
    if (ms <= MAX.retryAfterMs) return ms;
    const written = cut(visibleLine(this.#clean(asked ?? '')), MAX.text);
    throw new ProtocolCliError(code, `${message} (Retry-After: ${written})`, {
      hint: 'It asked to wait for more than a minute. Try again after that time.',
    });
  }

  /** The pause after `failures` failures in a row: 200 ms, then 400 ms … up to 10 s. */
  failureMs(failures: number): number {
    return Math.min(10_000, 100 * 2 ** failures);
  }

  /** Resolves after `ms`, or when a signal is aborted. */
  pause(ms: number, signal = this.connection.signal): Promise<void> {
    return new Promise(resolve => {
      if (signal.aborted) return resolve();
      const done = () => {
        cancel();
        signal.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.connection.clock.after(ms, done);
      signal.addEventListener('abort', done);
    });
  }

  /** Logs a warning about the session, or about some of its calls. */
  warn(message: string, calls?: string[]): void {
    const { log, thread } = this.connection;
    log.emit({ kind: 'warned', thread, message, ...(calls && { calls }) } satisfies Fact);
  }

  async #get(
    purpose: RequestEvent['purpose'],
    path: string,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<HttpAnswer | null> {
    const stop = this.connection.signal;
    const url = this.connection.url + path;
    const both = signal ? AbortSignal.any([stop, signal]) : stop;
    const request: HttpRequest = { method: 'GET', url, timeoutMs, signal: both, read: limitFor };
    for (let attempt = 1; ; attempt++) {
      const tried = await this.#tryGet(purpose, attempt, request);
      if ('answer' in tried) {
        this.#wasReached = true;
        return tried.answer;
      }
      if (signal?.aborted && !stop.aborted) return null;
      if (attempt >= (this.#wasReached ? TRIES.later : TRIES.first)) throw tried.error;
      await this.pause(tried.pauseMs, both);
    }
  }

  async #tryGet(
    purpose: RequestEvent['purpose'],
    attempt: number,
    request: HttpRequest,
  ): Promise<{ answer: HttpAnswer } | { error: ProtocolCliError; pauseMs: number }> {
    try {
      const answer = await this.#send({ purpose, attempt }, request);
      const { status, headers } = answer;
      if (isSuccess(status)) return { answer };
      const error = this.#refusal(answer, `GET ${request.url}`);
      if (status === 429) return { error, pauseMs: this.busyMs(headers, error) };
      if (status < 500) throw error;
      return { error, pauseMs: this.failureMs(attempt) };
    } catch (error) {
      const explained = this.#explain(error, request.url);
      if (explained.code === 'refused-address') throw explained;
      return { error: explained, pauseMs: this.failureMs(attempt) };
    }
  }

  /** Sends one request with the key, and logs it without the key. @throws TransportError */
  async #send(
    about: { readonly purpose: RequestEvent['purpose']; readonly attempt: number; readonly calls?: string[] },
    request: HttpRequest,
  ): Promise<HttpAnswer> {
    const { client, log, thread, key, signal } = this.connection;
    const { method, url, body } = request;
    const headers = { ...request.headers, accept: 'application/json' };
    const recorded = recordRequest(log, {
      from: 'client',
      to: 'platform',
      dialect: 'session',
      method,
      url,
      headers: { ...headers, authorization: REDACTED },
      thread,
      ...about,
      body: body && new Content(body),
    });
    try {
      const sent = { signal, ...request, headers: { ...headers, authorization: `Bearer ${key}` } };
      const answer = await client.send(sent);
      const content = answer.body.length > 0 ? new Content(answer.body) : undefined;
      recorded.answered(answer.status, { headers: redactHeaders(answer.headers), body: content });
      return answer;
    } catch (error) {
      recorded.failed(error);
      throw error;
    }
  }

  #read<Schema extends z.ZodMiniType>(schema: Schema, body: Uint8Array, path: string): z.infer<Schema> {
    const reading = readJson(body);
    if (!reading.ok) throw this.#unreadable(path, [this.#reasonOf(body, reading.reason)]);
    const checked = validate(schema, reading.value);
    if (!checked.ok) throw this.#unreadable(path, checked.faults.map(this.#clean));
    return checked.value;
  }

  /** Uses the reason for the redacted body: a reason may quote the body and cut it within the key. */
  #reasonOf(body: Uint8Array, reason: string): string {
    const text = Buffer.from(body).toString('utf8');
    const clean = this.#clean(text);
    if (clean === text) return reason;
    const reading = parseJson(clean);
    return reading.ok ? 'it cannot be read, and contains the key' : reading.reason;
  }

  #unreadable(path: string, faults: readonly string[]): ProtocolCliError {
    const message = `the platform's answer to GET ${this.connection.url}${path.split('?', 1)[0]} cannot be read`;
    return new ProtocolCliError('bad-answer', message, {
      faults: faults.slice(0, MAX.faults).map(fault => cut(visibleLine(fault), MAX.text)),
      hint: 'Is this the base URL of an agent-session platform?',
    });
  }

  /** Creates the error for an unsuccessful response. Secrets are redacted before the text is cut. */
  #refusal({ status, body }: HttpAnswer, what: string): ProtocolCliError {
    const reading = readJson(body);
    const detail = cut(visibleLine(this.#clean(reading.ok ? refusalIn(reading.value) : '')), MAX.text);
    const message = `the platform answered ${status} to ${what}${detail === '' ? '' : `: ${detail}`}`;
    return new ProtocolCliError('platform-refused', message, { hint: hintOn(status) });
  }

  #explain(error: unknown, url: string): ProtocolCliError {
    if (this.connection.signal.aborted) throw interruptedSession();
    if (!(error instanceof TransportError)) throw error;
    if (error.code === 'TOO_LARGE')
      return this.#unreadable(url.slice(this.connection.url.length), ['it has more than 64 MiB']);
    if (error.code !== 'BAD_HEADER') return explainFailure(error, url, 'platform');
    throw new ProtocolCliError('usage', 'the key has a character that no header can carry', {
      hint: 'Is there a line break in it?',
    });
  }
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

export function interruptedSession(): ProtocolCliError {
  return new ProtocolCliError('interrupted', 'interrupted before the session had settled');
}

function limitFor(status: number) {
  return isSuccess(status) ? { maxBytes: MAX.bytes } : { maxBytes: MAX.errorBytes, partial: true };
}

function hintOn(status: number): string {
  if (status === 401 || status === 403)
    return 'It did not accept the key. It is given with --key, or as API_KEY or HAI_API_KEY in the environment.';
  if (status === 404)
    return 'There is no such session, or this key has no access to it. The base URL is given without /api/v2.';
  if (status >= 300 && status < 400)
    return 'Redirects are never followed: give the final address as the base URL.';
  if (status === 429) return 'It asked to wait again and again. Try later.';
  if (status >= 500) return 'Its own log says why.';
  return 'Is this the base URL of the platform?';
}
