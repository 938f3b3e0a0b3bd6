import * as z from 'zod/mini';
import { Content } from '../../events/content.js';
import type { RequestEvent } from '../../events/events.js';
import { type Log, RecordedRequest } from '../../events/log.js';
import type { HttpAnswer, HttpClient, HttpRequest } from '../../http/client.js';
import { retryAfterMs } from '../../http/retry-after.js';
import { explainFailure, TransportError } from '../../http/transport-error.js';
import { isSuccess } from '../../protocol/http-status.js';
import { changesSchema, isSettledStatus, refusalIn } from '../../protocol/session.js';
import { validate } from '../../protocol/validate.js';
import { type Clock, sleep } from '../../system/clock.js';
import { ProtocolCliError } from '../../util/errors.js';
import { redactHeaders } from '../../util/headers.js';
import { readJson } from '../../util/json.js';
import { LIMITS } from '../../util/limits.js';
import { createRedactor, REDACTED } from '../../util/redact.js';
import { bytesText, excerpt, truncate } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { type PendingCall, PendingCalls } from './pending-calls.js';

/** A session on a platform, and the dependencies of its client. */
export interface SessionConnection {
  readonly client: HttpClient;
  readonly log: Log;
  readonly clock: Clock;
  /** Created by `sessionUrl`. */
  readonly url: string;
  readonly thread: string;
  readonly key: string;
  /** Aborted when the user stops the command. */
  readonly signal: AbortSignal;
}

/** Length of quoted text, in characters, and number of quoted faults. */
const QUOTED = { text: 300, faults: 5 };

const TIMEOUT_MS = 30_000;

const BUSY_MS = 1_000;

/** A wrong address should fail soon; a platform that was reached before may be unavailable for a minute. */
const TRIES = { first: 5, later: 10 };

type Changes = z.infer<typeof changesSchema>;

const statusSchema = z.object({ status: z.string() });

/** Why a request failed. Status 0: there was no response, and the request may have arrived. */
export interface PostFailure {
  readonly status: number;
  readonly error: ProtocolCliError;
  /** How long the platform asked to wait; default: a second. */
  readonly pauseMs: number;
}

type About = Pick<RequestEvent, 'purpose' | 'calls'> & { readonly attempt: number };

/** A session, as its platform reports it. GETs are retried after 5xx, 429 and broken connections. */
export class PlatformSession {
  readonly #clean: (text: string) => string;
  readonly #calls: PendingCalls;
  #wasReached = false;
  #from = 0;
  /** Whether the last read stopped at the maximum number of pages. */
  hasHitPageLimit = false;
  status = '';
  #latest: Changes | null = null;
  #reportedKeys = '';

  constructor(readonly connection: SessionConnection) {
    this.#clean = createRedactor([connection.key]).text;
    this.#calls = new PendingCalls(this.#clean);
  }

  get isSettled(): boolean {
    return isSettledStatus(this.status);
  }

  /** The platform's error, or null. */
  get error(): string | null {
    const error = this.#latest?.error ?? null;
    return error === null || typeof error === 'string' ? error : excerpt(this.#clean(JSON.stringify(error)));
  }

  /** The agent's final answer. */
  get answer(): unknown {
    return this.#latest?.answer;
  }

  get isAwaiting(): boolean {
    return this.status === 'awaiting_tool_results';
  }

  /** The calls that the session waits for now. */
  get pending(): readonly PendingCall[] {
    return this.isAwaiting ? this.#calls.calls : [];
  }

  /** The calls published last, with any status: a pause does not withdraw them. */
  get listed(): readonly PendingCall[] {
    return this.isSettled ? [] : this.#calls.calls;
  }

  /**
   * Reads new events, waiting up to `waitSeconds` for them. Returns whether there were any.
   * @param signal aborted to stop reading
   * @throws ProtocolCliError `unreachable`, `platform-refused`, `bad-answer`, `interrupted`.
   */
  async poll(waitSeconds: number, signal?: AbortSignal): Promise<boolean> {
    const before = { from: this.#from, status: this.status };
    await this.#readEvents(waitSeconds, signal);
    const answer = await this.#get('session', '/status', TIMEOUT_MS);
    this.status = this.#read(statusSchema, answer?.body ?? new Uint8Array(0), '/status').status;
    if (this.isSettled && this.#latest?.status !== this.status)
      this.#latest = (await this.#changes({ from: 0, withEvents: false })) ?? this.#latest;
    if (this.status !== before.status) this.#reportStatus();
    this.#reportPending();
    return this.#from > before.from || this.status !== before.status;
  }

  /**
   * Posts results once; null if they were accepted or the session has ended (409).
   * @param calls keys of their calls
   * @throws ProtocolCliError `interrupted`
   */
  async post(body: Uint8Array, calls: string[], attempt: number): Promise<PostFailure | null> {
    if (this.connection.signal.aborted) throw interruptedSession();
    const tried = await this.#try(
      { purpose: 'tool_results', attempt, calls },
      {
        method: 'POST',
        url: `${this.connection.url}/tool_results`,
        headers: { 'content-type': 'application/json' },
        body,
        timeoutMs: TIMEOUT_MS,
        read: { maxBytes: LIMITS.errorBytes.value, partial: true },
      },
    );
    return 'answer' in tried || tried.status === 409 ? null : tried; // 409: the session has ended
  }

  /** Resolves after `ms`, or when a signal is aborted. */
  async sleep(ms: number, signal = this.connection.signal): Promise<void> {
    await sleep(ms, { clock: this.connection.clock, signal });
  }

  /** @throws ProtocolCliError `interrupted` as soon as the user stops the command, without waiting for the work. */
  race<T>(work: Promise<T>): Promise<T> {
    const { signal } = this.connection;
    let leave = () => {};
    const interrupted = new Promise<never>((_, reject) => {
      leave = () => reject(interruptedSession());
    });
    signal.addEventListener('abort', leave);
    if (signal.aborted) leave();
    return Promise.race([work, interrupted]).finally(() => signal.removeEventListener('abort', leave));
  }

  /** Logs a warning about the session, or about some of its calls. */
  warn(message: string, calls?: string[]): void {
    const { log, thread } = this.connection;
    log.emit({ kind: 'warned', thread, message, ...(calls && { calls }) });
  }

  /** Reads all pages: only the latest event counts, and it may be on the last page. */
  async #readEvents(waitSeconds: number, signal?: AbortSignal): Promise<void> {
    this.hasHitPageLimit = false;
    let changes = await this.#changes({ from: this.#from, waitSeconds }, signal);
    for (let pages = 1; changes && this.#take(changes); pages++) {
      this.hasHitPageLimit = pages >= LIMITS.pages.value;
      if (this.hasHitPageLimit) return;
      changes = await this.#changes({ from: this.#from }, signal);
    }
  }

  /** Returns whether there were new events. */
  #take(changes: Changes): boolean {
    this.#latest = changes;
    const events = changes.new_events ?? [];
    const first = changes.first_index ?? this.#from;
    const evicted = first - this.#from;
    if (events.length > 0 && evicted > 0) {
      this.warn(`events that the platform no longer had when they were read: ${evicted}`);
      this.#from = first;
    }
    this.#from += events.length;
    for (const event of events) for (const warning of this.#calls.apply(event)) this.warn(warning);
    return events.length > 0;
  }

  /** Returns what is new since the event `from`; null on timeout, or if `signal` was aborted. */
  async #changes(
    query: { readonly from: number; readonly waitSeconds?: number; readonly withEvents?: boolean },
    signal?: AbortSignal,
  ): Promise<Changes | null> {
    const { from, waitSeconds = 0, withEvents = true } = query;
    const path = `/changes?from_index=${from}&include_events=${withEvents}&wait_for_seconds=${waitSeconds}`;
    const answer = await this.#get('changes', path, TIMEOUT_MS + waitSeconds * 1_000, signal);
    return answer && answer.status !== 204 ? this.#read(changesSchema, answer.body, '/changes') : null;
  }

  #reportStatus(): void {
    const { log, thread } = this.connection;
    const { status, error, answer } = this;
    const hasAnswer = answer !== undefined && answer !== null;
    const ending = { ...(error !== null && { error }), ...(hasAnswer && { answer }) };
    log.emit({ kind: 'session', thread, status, ...(this.isSettled && ending) });
  }

  #reportPending(): void {
    const pending = this.pending.map(({ key, tool, args, id }) => ({ key, tool_name: tool, args, id }));
    const calls = pending.map(({ key }) => key);
    const keys = JSON.stringify(calls);
    if (keys === this.#reportedKeys) return;
    this.#reportedKeys = keys;
    const { log, thread } = this.connection;
    if (pending.length > 0) log.emit({ kind: 'awaiting', thread, calls, pending });
  }

  /** Not p-retry: after a 429 the platform says how long to pause. Returns null if `signal` was aborted. */
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
      const tried = await this.#try({ purpose, attempt }, request);
      if ('answer' in tried) {
        this.#wasReached = true;
        return tried.answer;
      }
      if (signal?.aborted && !stop.aborted) return null;
      const { status, error, pauseMs } = tried;
      if (isFinal(tried) || attempt >= (this.#wasReached ? TRIES.later : TRIES.first)) throw error;
      await this.sleep(status === 429 ? pauseMs : backOffMs(attempt), both);
    }
  }

  /** @throws ProtocolCliError `interrupted` */
  async #try(about: About, request: HttpRequest): Promise<{ readonly answer: HttpAnswer } | PostFailure> {
    try {
      const answer = await this.#send(about, request);
      return isSuccess(answer.status) ? { answer } : this.#refusal(answer, request);
    } catch (cause) {
      return { status: 0, error: this.#explain(cause, request.url), pauseMs: 0 };
    }
  }

  /** Sends one request with the key, and logs it without the key. @throws TransportError */
  async #send(about: About, request: HttpRequest): Promise<HttpAnswer> {
    const { client, log, thread, key, signal } = this.connection;
    const { method, url, body } = request;
    const headers = { ...request.headers, accept: 'application/json' };
    const recorded = new RecordedRequest(log, {
      from: 'client',
      to: 'platform',
      dialect: 'session',
      method,
      url,
      thread,
      headers: { ...headers, authorization: REDACTED },
      ...about,
      body: body && new Content(body),
    });
    const sent = { signal, ...request, headers: { ...headers, authorization: `Bearer ${key}` } };
    return recorded.recordSending(client.send(sent), redactHeaders);
  }

  /** A parse error may quote a part of the key, which redaction would not find: it is not shown then. */
  #read<Schema extends z.ZodMiniType>(schema: Schema, body: Uint8Array, path: string): z.infer<Schema> {
    const reading = readJson(body);
    const text = Buffer.from(body).toString('utf8');
    if (!reading.ok)
      throw this.#unreadable(path, [this.#clean(text) === text ? reading.reason : 'it contains the key']);
    const checked = validate(schema, reading.value);
    if (!checked.ok) throw this.#unreadable(path, checked.faults.map(this.#clean));
    return checked.value;
  }

  #unreadable(path: string, faults: readonly string[]): ProtocolCliError {
    const message = `the platform's answer to GET ${this.connection.url}${path.split('?', 1)[0]} cannot be read`;
    return new ProtocolCliError('bad-answer', message, {
      faults: faults.slice(0, QUOTED.faults).map(fault => truncate(visibleLine(fault), QUOTED.text)),
      hint: 'Is this the base URL of an agent-session platform?',
    });
  }

  /** Secrets are redacted before the text is cut. */
  #refusal({ status, headers, body }: HttpAnswer, { method, url }: HttpRequest): PostFailure {
    const reading = readJson(body);
    const detail = truncate(
      visibleLine(this.#clean(reading.ok ? refusalIn(reading.value) : '')),
      QUOTED.text,
    );
    const what = method === 'POST' ? 'the posted results' : `GET ${url}`;
    const message = `the platform answered ${status} to ${what}${detail === '' ? '' : `: ${detail}`}`;
    const pauseMs = retryAfterMs(headers['retry-after'], this.connection.clock.wall()) ?? BUSY_MS;
    const error = new ProtocolCliError('platform-refused', message, { hint: hintOn(status) });
    if (status !== 429 || pauseMs <= LIMITS.retryAfterMs.value) return { status, error, pauseMs };
    const hint = 'The platform asks to wait for more than a minute. Try again later.';
    const seconds = Math.ceil(pauseMs / 1_000);
    throw new ProtocolCliError(error.code, `${message} (Retry-After: ${seconds} s)`, { hint });
  }

  #explain(error: unknown, url: string): ProtocolCliError {
    if (this.connection.signal.aborted) throw interruptedSession();
    if (!(error instanceof TransportError)) throw error;
    if (error.code === 'TOO_LARGE')
      return this.#unreadable(url.slice(this.connection.url.length), [
        `it has more than ${bytesText(LIMITS.messageBytes.value)}`,
      ]);
    if (error.code !== 'BAD_HEADER') return explainFailure(error, url, 'platform');
    throw new ProtocolCliError('usage', 'the key contains a character that headers cannot have', {
      hint: 'Does it contain a line break?',
    });
  }
}

/** The pause after `failures` failures in a row: 200 ms, then 400 ms … up to 10 s. */
export function backOffMs(failures: number): number {
  return Math.min(10_000, 100 * 2 ** failures);
}

function interruptedSession(): ProtocolCliError {
  return new ProtocolCliError('interrupted', 'interrupted before the session had settled');
}

/** Whether the same request would fail again. */
function isFinal({ status, error }: PostFailure): boolean {
  return status === 0 ? error.code === 'refused-address' : status < 500 && status !== 429;
}

function limitFor(status: number) {
  return isSuccess(status)
    ? { maxBytes: LIMITS.messageBytes.value }
    : { maxBytes: LIMITS.errorBytes.value, partial: true };
}

function hintOn(status: number): string {
  if (status === 401 || status === 403)
    return 'The platform did not accept the key. Give it with --key, or set API_KEY or HAI_API_KEY in the environment.';
  if (status === 404)
    return 'There is no such session, or this key has no access to it. The base URL is given without /api/v2.';
  if (status >= 300 && status < 400)
    return 'Redirects are never followed: give the final address as the base URL.';
  if (status === 429) return 'The platform is busy. Try again later.';
  if (status >= 500) return "See the platform's log.";
  return 'Is this the base URL of the platform?';
}
