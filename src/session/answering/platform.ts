import * as z from 'zod/mini';
import { ProtocolCliError } from '../../errors.js';
import type { RequestEvent } from '../../exchange/events.js';
import { validate } from '../../protocol/validate.js';
import { parseJson, readJson } from '../../text/json.js';
import { createRedactor } from '../../text/redact.js';
import { type HttpAnswer, type HttpRequest, TransportError } from '../../transport/client.js';
import { explainFailure } from '../../transport/explain-failure.js';
import type { ResultsBody } from './bodies.js';
import { pause } from './pause.js';
import { type PlatformDesk, recordedSend } from './recorded-send.js';
import { type Clean, refusalDetail, refusedBy, tooLongToWait, unreadableAnswer } from './refusal.js';
import { busyPauseMs, failurePauseMs, judgeGet } from './retries.js';

/** What became of posted results. `lost`: nobody knows whether they arrived. */
export type PostAnswer =
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
export type OpenChanges = z.infer<typeof openChangesSchema>;

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
