import * as z from 'zod/mini';
import type { RequestEvent } from '../../events/events.js';
import { isEqual } from '../../fixtures/schema/match.js';
import { explainFailure, type HttpAnswer, type HttpRequest, TransportError } from '../../http/client.js';
import { isSettledStatus } from '../../protocol/callbacks.js';
import { refusalIn } from '../../protocol/session.js';
import { validate } from '../../protocol/validate.js';
import { ProtocolCliError } from '../../util/errors.js';
import { excerpt } from '../../util/excerpt.js';
import { parseJson, readJson } from '../../util/json.js';
import { cut } from '../../util/json-diagnosis.js';
import { createRedactor } from '../../util/redact.js';
import { visibleLine } from '../../util/visible.js';
import { type PendingCall, PendingCalls, type ResultsBody } from './pending-calls.js';
import { busyPauseMs, failurePauseMs, judgeGet, type PlatformDesk, pause, recordedSend } from './requests.js';

const LONGEST = 300;
const MOST_FAULTS = 5;

/** Takes secrets out of a text. */
export type Clean = (text: string) => string;

/**
 * What a platform says of a request it refuses.
 * @param clean before it is cut: a part of a secret is not found any more
 */
export function refusalDetail(body: Uint8Array, clean: Clean): string {
  const reading = readJson(body);
  return cut(visibleLine(clean(reading.ok ? refusalIn(reading.value) : '')), LONGEST);
}

/** An answer that ends it. @param what was asked, such as `GET …/status` */
export function refusedBy(status: number, what: string, detail: string): ProtocolCliError {
  const said = detail === '' ? '' : `: ${detail}`;
  return new ProtocolCliError('platform-refused', `the platform answered ${status} to ${what}${said}`, {
    hint: hintOn(status),
  });
}

/** A platform that asks to wait for longer than anybody does. @param asked its `Retry-After` */
function tooLongToWait({ message, code }: ProtocolCliError, asked: string): ProtocolCliError {
  const said = `${message} (Retry-After: ${cut(visibleLine(asked), LONGEST)})`;
  return new ProtocolCliError(code, said, {
    hint: 'It asked to wait for more than a minute. Try again after that time.',
  });
}

function hintOn(status: number): string {
  if (status === 401 || status === 403)
    return 'It did not take the key. It is given with --key, or as API_KEY or HAI_API_KEY in the environment.';
  if (status === 404)
    return 'There is no such session, or this key has no access to it. The base URL is given without /api/v2.';
  if (status >= 300 && status < 400)
    return 'Redirects are never followed: give the final address as the base URL.';
  if (status === 429) return 'It asked to wait again and again. Try later.';
  if (status >= 500) return 'Its own log says why.';
  return 'Is this the base URL of the platform?';
}

/** An answer with 2xx that is not what the API says. @param faults without secrets */
function unreadableAnswer(what: string, faults: readonly string[]): ProtocolCliError {
  return new ProtocolCliError('bad-answer', `the platform's answer to ${what} cannot be read`, {
    faults: faults.slice(0, MOST_FAULTS).map(fault => cut(visibleLine(fault), LONGEST)),
    hint: 'Is this the base URL of an agent-session platform?',
  });
}

/** What became of posted results. `lost`: nobody knows whether they arrived. */
type PostAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: HttpAnswer['headers'];
      readonly detail: string;
    }
  | { readonly kind: 'lost'; readonly error: ProtocolCliError };

const MOST_BYTES = 64 * 1024 * 1024;
const EXCERPT_BYTES = 64 * 1024;
const TIMEOUT_MS = 30_000;
/** A wrong address should be known soon; a platform that was there may be gone for a minute. */
const TRIES = { first: 5, later: 10 };

/** What is used of it, and no more; its events are read one by one, so that a strange one spoils nothing. */
const openChangesSchema = z.object({
  status: z.string(),
  error: z.optional(z.unknown()),
  answer: z.optional(z.unknown()),
  new_events: z.nullish(z.array(z.unknown())),
});
type OpenChanges = z.infer<typeof openChangesSchema>;

const statusSchema = z.object({ status: z.string() });

/** The session API as its client sees it (platforms): GETs are asked again after 5xx and broken connections. */
export class Platform {
  #wasReached = false;
  readonly #clean: Clean;

  constructor(private readonly desk: PlatformDesk) {
    this.#clean = createRedactor([desk.key]).text;
  }

  /**
   * What is new from this event on; null where nothing is, after so many seconds.
   * @param signal aborted, nothing is new
   * @throws ProtocolCliError `unreachable`, `platform-refused`, `bad-answer`, `interrupted`.
   */
  async changes(
    query: { readonly from: number; readonly waitSeconds: number; readonly withEvents?: boolean },
    signal?: AbortSignal,
  ): Promise<OpenChanges | null> {
    const { from, waitSeconds, withEvents = true } = query;
    const path = `/changes?from_index=${from}&include_events=${withEvents}&wait_for_seconds=${waitSeconds}`;
    const answer = await this.#get('changes', path, TIMEOUT_MS + waitSeconds * 1_000, signal);
    if (!answer || answer.status === 204) return null;
    return this.#read(openChangesSchema, answer.body, `GET ${this.desk.url}/changes`);
  }

  /** @throws ProtocolCliError as {@link changes}. */
  async status(): Promise<string> {
    const answer = await this.#get('session', '/status', TIMEOUT_MS);
    return this.#read(statusSchema, answer?.body ?? new Uint8Array(0), `GET ${this.desk.url}/status`).status;
  }

  /** Posts once. @throws ProtocolCliError `interrupted`. */
  async post({ settled, bytes }: ResultsBody, attempt: number): Promise<PostAnswer> {
    const about = { purpose: 'tool_results', attempt, calls: settled.map(({ call }) => call.key) } as const;
    try {
      const { status, headers, body } = await recordedSend(this.desk, about, {
        method: 'POST',
        url: `${this.desk.url}/tool_results`,
        headers: { 'content-type': 'application/json' },
        body: bytes,
        timeoutMs: TIMEOUT_MS,
        read: { maxBytes: EXCERPT_BYTES, partial: true },
      });
      return { kind: 'answered', status, headers, detail: refusalDetail(body, this.#clean) };
    } catch (error) {
      return { kind: 'lost', error: this.#explained(error, `${this.desk.url}/tool_results`) };
    }
  }

  /**
   * How long a 429 asks to wait, in ms.
   * @throws ProtocolCliError the refusal, with what was asked for, where that is too long.
   */
  busyPause(headers: HttpAnswer['headers'], refusal: ProtocolCliError): number {
    const ms = busyPauseMs(headers, this.desk.clock.wall());
    if (ms === null) throw tooLongToWait(refusal, this.#clean(headers['retry-after'] ?? ''));
    return ms;
  }

  /** Null where `signal` called it off. */
  async #get(
    purpose: RequestEvent['purpose'],
    path: string,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<HttpAnswer | null> {
    const url = this.desk.url + path;
    const both = signal ? AbortSignal.any([this.desk.signal, signal]) : this.desk.signal;
    const request: HttpRequest = { method: 'GET', url, timeoutMs, signal: both, read: readWhole };
    for (let attempt = 1; ; attempt++) {
      const tried = await this.#tryGet(purpose, attempt, request);
      if ('answer' in tried) {
        this.#wasReached = true;
        return tried.answer;
      }
      if (signal?.aborted && !this.desk.signal.aborted) return null;
      if (attempt >= (this.#wasReached ? TRIES.later : TRIES.first)) throw tried.error;
      await pause(this.desk.clock, tried.pauseMs, both);
    }
  }

  async #tryGet(
    purpose: RequestEvent['purpose'],
    attempt: number,
    request: HttpRequest,
  ): Promise<{ answer: HttpAnswer } | { error: ProtocolCliError; pauseMs: number }> {
    const pauseMs = failurePauseMs(attempt);
    try {
      const answer = await recordedSend(this.desk, { purpose, attempt }, request);
      const verdict = judgeGet(answer.status);
      if (verdict === 'fine') return { answer };
      const error = refusedBy(answer.status, `GET ${request.url}`, refusalDetail(answer.body, this.#clean));
      if (verdict === 'refused') throw error;
      return { error, pauseMs: verdict === 'busy' ? this.busyPause(answer.headers, error) : pauseMs };
    } catch (error) {
      const explained = this.#explained(error, request.url);
      if (explained.code === 'refused-address') throw explained;
      return { error: explained, pauseMs };
    }
  }

  #read<Schema extends z.ZodMiniType>(schema: Schema, body: Uint8Array, what: string): z.infer<Schema> {
    const reading = readJson(body);
    if (!reading.ok) throw unreadableAnswer(what, [this.#reasonOf(body, reading.reason)]);
    const checked = validate(schema, reading.value);
    if (!checked.ok) throw unreadableAnswer(what, checked.faults.map(this.#clean));
    return checked.value;
  }

  /** It may quote the body, cut somewhere within the key: so it is that of the clean one. */
  #reasonOf(body: Uint8Array, reason: string): string {
    const text = Buffer.from(body).toString('utf8');
    const clean = this.#clean(text);
    if (clean === text) return reason;
    const reading = parseJson(clean);
    return reading.ok ? 'it cannot be read, and has the key in it' : reading.reason;
  }

  /** @throws what no wire is to blame for, and `interrupted`. */
  #explained(error: unknown, url: string): ProtocolCliError {
    if (this.desk.signal.aborted) throw interruptedSession();
    if (!(error instanceof TransportError)) throw error;
    if (error.code === 'TOO_LARGE') throw unreadableAnswer(`GET ${url}`, ['it has more than 64 MiB']);
    if (error.code === 'BAD_HEADER') throw badKey();
    return explainFailure(error, url, 'platform');
  }
}

export function interruptedSession(): ProtocolCliError {
  return new ProtocolCliError('interrupted', 'interrupted before the session had settled');
}

function badKey(): ProtocolCliError {
  return new ProtocolCliError('usage', 'the key has a character that no header can carry', {
    hint: 'Is there a line break in it?',
  });
}

function readWhole(status: number) {
  return status >= 200 && status < 300
    ? { maxBytes: MOST_BYTES }
    : { maxBytes: EXCERPT_BYTES, partial: true };
}

/** So many pages are read before it is judged what they say: a platform may never come to an end. */
const MOST_PAGES = 200;
/** No session has an event with this number. */
const BEYOND = 2 ** 31 - 1;

/** What is known of a session, as its platform tells it. */
export class SessionWatch {
  readonly #clean: Clean;
  readonly #calls: PendingCalls;
  #from = 0;
  #page: readonly unknown[] = [];
  /** Whether it heeds `from_index`; null until there is a doubt. */
  #isHeeding: boolean | null = null;
  #isEndless = false;
  #status = '';
  #latest: Pick<OpenChanges, 'status' | 'error' | 'answer'> | null = null;
  #toldKeys = '';

  constructor(
    private readonly desk: Pick<PlatformDesk, 'log' | 'thread' | 'key'>,
    private readonly platform: Platform,
  ) {
    this.#clean = createRedactor([desk.key]).text;
    this.#calls = new PendingCalls(this.#clean);
  }

  get status(): string {
    return this.#status;
  }

  /** Nothing more comes, unless somebody sends a message. */
  get isSettled(): boolean {
    return isSettledStatus(this.#status);
  }

  /** What went wrong, as the platform says it; null where it says nothing. */
  get error(): string | null {
    const error = this.#latest?.error ?? null;
    return error === null || typeof error === 'string' ? error : excerpt(this.#clean(JSON.stringify(error)));
  }

  /** What the agent says in the end. */
  get answer(): unknown {
    return this.#latest?.answer;
  }

  /** Whether it waits for results now. */
  get isAwaiting(): boolean {
    return this.#status === 'awaiting_tool_results';
  }

  /** The calls it waits for now. */
  get pending(): readonly PendingCall[] {
    return this.isAwaiting ? this.#calls.calls : [];
  }

  /** The calls it published last, whatever its status: a moment of `paused` takes none back. */
  get listed(): readonly PendingCall[] {
    return this.isSettled ? [] : this.#calls.calls;
  }

  /** Whether there was more to read than anybody reads at once. */
  get isEndless(): boolean {
    return this.#isEndless;
  }

  /**
   * Reads what is new, waiting for it so many seconds, and tells it. Whether there was something.
   * @param signal aborted, no more is read
   * @throws ProtocolCliError see {@link Platform.changes}.
   */
  async look(waitSeconds: number, signal?: AbortSignal): Promise<boolean> {
    const before = { from: this.#from, status: this.#status };
    await this.#readOn(waitSeconds, signal);
    this.#status = await this.platform.status();
    if (this.isSettled && this.#latest?.status !== this.#status) await this.#readEnd();
    this.#tell(before.status);
    return this.#from > before.from || this.#status !== before.status;
  }

  /** To the end: only the latest event counts, and a page may end before it. */
  async #readOn(waitSeconds: number, signal?: AbortSignal): Promise<void> {
    this.#isEndless = false;
    let changes = await this.platform.changes({ from: this.#from, waitSeconds }, signal);
    for (let pages = 1; changes && (await this.#take(changes)); pages++) {
      this.#isEndless = pages >= MOST_PAGES;
      if (this.#isEndless) return;
      changes = await this.platform.changes({ from: this.#from, waitSeconds: 0 }, signal);
    }
  }

  /** Whether there were new events. */
  async #take(changes: OpenChanges): Promise<boolean> {
    this.#latest = changes;
    const events = await this.#newOf(changes.new_events ?? []);
    this.#from += events.length;
    for (const event of events) for (const message of this.#calls.apply(event)) this.#warn(message);
    return events.length > 0;
  }

  /** A platform that does not heed `from_index` tells all events each time: what is known is no news. */
  async #newOf(events: readonly unknown[]): Promise<readonly unknown[]> {
    if (this.#isHeeding === null && this.#isAgain(events)) {
      this.#isHeeding = (await this.#eventsBeyond()) === 0;
      if (!this.#isHeeding)
        this.#warn('the platform does not heed from_index: it tells all events again each time');
    }
    if (this.#isHeeding === false) return events.slice(this.#from);
    this.#page = events;
    return events;
  }

  /** Whether a page begins as the one before: events may look the same, so that it proves nothing. */
  #isAgain(events: readonly unknown[]): boolean {
    const before = this.#page;
    return (
      before.length > 0 && events.length >= before.length && isEqual(events.slice(0, before.length), before)
    );
  }

  async #eventsBeyond(): Promise<number> {
    const changes = await this.platform.changes({ from: BEYOND, waitSeconds: 0 });
    return changes?.new_events?.length ?? 0;
  }

  /** It has ended since the events were read: how is said beside them, whether there are new ones or not. */
  async #readEnd(): Promise<void> {
    const whole = await this.platform.changes({ from: 0, waitSeconds: 0, withEvents: false });
    if (whole) this.#latest = whole;
  }

  #tell(statusBefore: string): void {
    const { log, thread } = this.desk;
    const status = this.#status;
    if (status !== statusBefore) log.emit({ kind: 'session', thread, status, ...this.#ending() });
    const keys = JSON.stringify(this.pending.map(({ key }) => key));
    if (keys === this.#toldKeys) return;
    this.#toldKeys = keys;
    if (this.pending.length === 0) return;
    const pending = this.pending.map(({ key, tool, args, id }) => ({ key, tool_name: tool, args, id }));
    log.emit({ kind: 'awaiting', thread, calls: pending.map(({ key }) => key), pending });
  }

  #ending(): { error?: string; answer?: unknown } {
    if (!this.isSettled) return {};
    const { error, answer } = this;
    return { ...(error !== null && { error }), ...(answer !== undefined && answer !== null && { answer }) };
  }

  #warn(message: string): void {
    this.desk.log.emit({ kind: 'warned', thread: this.desk.thread, message });
  }
}
