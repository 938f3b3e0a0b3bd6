import { setMaxListeners } from 'node:events';
import { Content } from '../events/content.js';
import type { Event, RequestEvent } from '../events/events.js';
import type { Exchange } from '../events/exchange.js';
import type { History } from '../events/history.js';
import type { Log } from '../events/log.js';
import { recordRequest } from '../events/record-request.js';
import {
  explainFailure,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  type ReadLimit,
  TransportError,
} from '../http/client.js';
import { isEncoded } from '../http/request-body.js';
import type { UserChoice } from '../protocol/callbacks.js';
import type { Invocation } from '../protocol/read-invocation.js';
import {
  type CancelToolCall,
  type ChoiceResponse,
  type CloseThread,
  cancelToolCallUrl,
  closeThreadUrl,
  type Migrate,
  migrateUrl,
} from '../protocol/toolset.js';
import type { Clock } from '../system/drafts.js';
import { ProtocolCliError } from '../util/errors.js';

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
  const headers = { ...request.headers, ...headersFor(credentials, request.url) };
  const { method, url, body } = request;
  const content = body && { body: new Content(body) };
  const recorded = recordRequest(log, {
    from: 'runtime',
    to: 'tool',
    method,
    url,
    headers,
    ...about,
    ...content,
  });
  try {
    const answer = await client.send({ ...request, headers });
    const read = answer.body.length > 0 && { body: new Content(answer.body) };
    recorded.answered(answer.status, { headers: { ...answer.headers }, ...read });
    return answer;
  } catch (error) {
    recorded.failed(error);
    throw error;
  }
}

function headersFor({ origin, headers }: Credentials, url: string): Readonly<Record<string, string>> {
  return URL.canParse(url) && new URL(url).origin === origin ? headers : {};
}

/** A selection is no notice: somebody has thought about it, and it is sent once. */
const SELECTION_TIMEOUT_MS = 10_000;
const NOTICE_TIMEOUT_MS = 1_000;
const EXCERPT_BYTES = 4 * 1024;
/** Of what must not be there, so much as a person needs to see what it is, and no more time than somebody takes who has it ready. */
const NEEDLESS = { maxBytes: EXCERPT_BYTES, partial: true, withinMs: 500 } as const;

/** What a tool server is told besides invocations; its `kind` is what the log calls it. */
export type Notice =
  | { readonly kind: 'cancel'; readonly message: CancelToolCall }
  | { readonly kind: 'close'; readonly message: CloseThread }
  | { readonly kind: 'migrate'; readonly message: Migrate };

/** What became of a message. Only 200 means that it was taken. */
export type NoticeAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** The beginning of the body, where it was not taken. */
      readonly excerpt: string;
      /** Bytes of its body; null where it has one, and did not say how long. */
      readonly bodySize: number | null;
    }
  | { readonly kind: 'unanswered'; readonly reason: string; readonly hint?: string };

export interface Delivery {
  /** 1,000 ms unless told: nobody should wait for a notice. 0 for no limit. */
  readonly timeoutMs?: number;
  /** Ends the wait for its answer. */
  readonly signal?: AbortSignal;
  /** Keys of the calls concerned. */
  readonly calls?: string[];
}

const URLS: Readonly<Record<Notice['kind'], (base: string) => string>> = {
  cancel: cancelToolCallUrl,
  close: closeThreadUrl,
  migrate: migrateUrl,
};

/** Where a notice goes, at a tool server's base. */
export function noticeUrl({ kind }: Notice, base: string): string {
  return URLS[kind](base);
}

/** Sends a notice to a tool server's base. Single shot; never throws (RT-NOTIFY). */
export function notify(
  wire: Wire,
  base: string,
  notice: Notice,
  { calls, ...waiting }: Delivery = {},
): Promise<NoticeAnswer> {
  const { kind, message } = notice;
  const thread = 'thread_id' in message ? { thread: message.thread_id } : {};
  const about: About = { purpose: kind, attempt: 1, ...thread, ...(calls && { calls }) };
  return post(wire, about, noticeUrl(notice, base), message, waiting);
}

/** Says that a thread is over. Single shot; never throws (RT-NOTIFY). */
export function closeThread(
  wire: Wire,
  base: string,
  thread: string,
  delivery?: Omit<Delivery, 'calls'>,
): Promise<NoticeAnswer> {
  return notify(wire, base, { kind: 'close', message: { thread_id: thread } }, delivery);
}

/** Says that a call is no longer wanted; a result may still come. Single shot; never throws (RT-NOTIFY). */
export function cancelToolCall(
  wire: Wire,
  base: string,
  { key, thread, id }: { key: string; thread: string; id: string },
  delivery?: Omit<Delivery, 'calls'>,
): Promise<NoticeAnswer> {
  const message = { thread_id: thread, tool_call_id: id };
  return notify(wire, base, { kind: 'cancel', message }, { ...delivery, calls: [key] });
}

/**
 * Sends the user's selection (RT-CHOICE); never throws. Where it does not arrive, the call stays pending until its end.
 * @param signal ends the wait for its answer
 */
export function respondToChoice(
  wire: Wire,
  url: string,
  call: { key: string; thread: string; signal: AbortSignal },
  response: ChoiceResponse,
): Promise<NoticeAnswer> {
  const about: About = { purpose: 'choice', attempt: 1, thread: call.thread, calls: [call.key] };
  return post(wire, about, url, response, { timeoutMs: SELECTION_TIMEOUT_MS, signal: call.signal });
}

export function isTaken(answer: NoticeAnswer): boolean {
  return answer.kind === 'answered' && answer.status === 200;
}

async function post(
  wire: Wire,
  about: About,
  url: string,
  message: Notice['message'] | ChoiceResponse,
  { timeoutMs = NOTICE_TIMEOUT_MS, signal }: Omit<Delivery, 'calls'>,
): Promise<NoticeAnswer> {
  try {
    const { status, headers, body } = await recordedSend(wire, about, {
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(message)),
      read: about.purpose === 'choice' ? readUnlessTaken : readUnlessEmpty,
      timeoutMs,
      ...(signal && { signal }),
    });
    const excerpt = status === 200 ? '' : Buffer.from(body).toString('utf8').trim();
    return { kind: 'answered', status, excerpt, bodySize: bodySizeOf(headers, body) };
  } catch (error) {
    return unanswered(error);
  }
}

/** A body beside a 200 says nothing; that of a refusal helps a person. */
function readUnlessTaken(status: number): ReadLimit {
  return status === 200 ? 'nothing' : { maxBytes: EXCERPT_BYTES, partial: true };
}

/** Where there should be no body (TOOL-CLOSE, TOOL-CANCEL), its beginning tells of one, and what it is. */
function readUnlessEmpty(status: number, headers: HttpAnswer['headers']): ReadLimit {
  const isUnread = headers['content-length'] === '0' || isEncoded(headers);
  return status !== 200 || isUnread ? readUnlessTaken(status) : NEEDLESS;
}

function bodySizeOf(headers: HttpAnswer['headers'], body: Uint8Array): number | null {
  const announced = headers['content-length'];
  if (announced !== undefined) return Number(announced);
  return body.length > 0 ? null : 0;
}

function unanswered(error: unknown): NoticeAnswer {
  const reason = error instanceof Error ? error.message : String(error);
  const hint = error instanceof ProtocolCliError ? error.hint : undefined;
  return { kind: 'unanswered', reason, ...(hint !== undefined && { hint }) };
}

/** Who answers what a tool asks. */
export interface Answering {
  readonly by: 'person' | 'flag' | 'policy';
  /**
   * The index of the choice; null where nobody answers.
   * @param signal aborted once the answer is not wanted any more
   * @param nth question of its call, from 0
   */
  readonly select: (question: UserChoice, signal: AbortSignal, nth: number) => Promise<number | null>;
}

/** A selection that is on its way when the call is over may still arrive. */
const PARTING_MS = 1_000;

/**
 * Answers each question of a call as it comes, and POSTs the selection (RT-CHOICE). Returns how to stop: that resolves soon, once the
 * selections on their way have arrived, or have not.
 */
export function answerQuestions(
  wire: Wire,
  history: History,
  { id: key, group_id: thread }: Pick<Invocation, 'id' | 'group_id'>,
  { by, select }: Answering,
  clock: Clock,
): () => Promise<void> {
  const { log } = wire;
  const over = new AbortController();
  const parted = new AbortController();
  setMaxListeners(0, over.signal, parted.signal); // every question that is open listens to them
  const answers = new Set<Promise<void>>();
  let asked = 0;
  const answer = async (leg: string, question: UserChoice) => {
    const selected = await select(question, over.signal, asked++);
    if (selected === null || over.signal.aborted) return;
    log.emit({ kind: 'decided', what: 'choice', by, value: selected, question: leg, calls: [key] });
    const call = { key, thread, signal: parted.signal };
    await respondToChoice(wire, question.response_url, call, { id: question.id, selected });
  };
  const unanswered = (error: unknown) => {
    const why = error instanceof Error ? error.message : String(error);
    log.emit({ kind: 'warned', message: `nobody answered the tool's question: ${why}`, calls: [key] });
  };
  const unsubscribe = log.subscribe(event => {
    if (!event.calls?.includes(key)) return;
    const exchange = history.exchanges.get(key);
    if (exchange?.settled) over.abort();
    if (event.kind !== 'response') return;
    const arrival = exchange?.arrivals.findLast(({ leg }) => leg === event.leg);
    if (arrival?.verdict.kind !== 'holds') return; // what came is no question, or one that is asked already
    if (arrival.message?.type !== 'user_choice') return;
    const answered = answer(arrival.leg, arrival.message)
      .catch(unanswered)
      .finally(() => answers.delete(answered));
    answers.add(answered);
  });
  return async () => {
    over.abort();
    unsubscribe();
    const stopWaiting = clock.after(PARTING_MS, () => parted.abort());
    await Promise.all(answers);
    stopWaiting();
  };
}

/** A time limit that stands still while a person decides. */
interface Deadline {
  pause(): void;
  resume(): void;
  cancel(): void;
}

/** Calls back once, `afterMs` of running time from now; never, where it is 0. */
export function startDeadline(clock: Clock, afterMs: number, callback: () => void): Deadline {
  let left = afterMs;
  let since = 0;
  let cancelTimer: (() => void) | null = null;
  const stop = () => {
    cancelTimer?.();
    cancelTimer = null;
  };
  const run = () => {
    if (afterMs === 0 || cancelTimer) return;
    since = clock.now();
    cancelTimer = clock.after(left, callback);
  };
  run();
  return {
    pause() {
      if (cancelTimer) left = Math.max(0, left - (clock.now() - since));
      stop();
    },
    resume: run,
    cancel: stop,
  };
}

interface Watch {
  readonly key: string;
  /** 0: wait for ever. */
  readonly timeoutMs: number;
  /** Whether that time stands still while a person decides; true unless told. */
  readonly waitsForPeople?: boolean;
  /** Asked after each event: true ends the wait though the call is pending. */
  readonly leave?: (exchange: Exchange) => boolean;
}

/**
 * Resolves when the call is settled, left, or its time is over; that time stands still while a person decides, if one is there.
 * Our own timeout becomes a fact (RT-TIMEOUT).
 */
export function settlement(log: Log, history: History, clock: Clock, watch: Watch): Promise<void> {
  const { key, timeoutMs, waitsForPeople = true, leave } = watch;
  return new Promise(resolve => {
    const deadline = startDeadline(clock, timeoutMs, () =>
      log.emit({ kind: 'expired', what: 'timeout', afterMs: timeoutMs, calls: [key] }),
    );
    const finish = () => {
      deadline.cancel();
      unsubscribe();
      resolve();
    };
    const look = (event: Event) => {
      const exchange = event.calls?.includes(key) ? history.exchanges.get(key) : undefined;
      if (!exchange) return;
      if (exchange.settled || leave?.(exchange)) finish();
      else if (exchange.waitingFor && waitsForPeople) deadline.pause();
      else deadline.resume();
    };
    const unsubscribe = log.subscribe(look);
  });
}

/**
 * Enough to see whether a result is in it (TOOL-ASYNC). The headers alone acknowledge, and an answer is told when it was read: whoever
 * sends them at once is not to be blamed for the rest, so this is well below what is tolerated (TOOL-ACK).
 */
const BEGINNING = { maxBytes: 16 * 1024, partial: true, withinMs: 50 } as const;

/** Of an acknowledgement's body, the beginning; nothing of what is encoded. */
export function readAcknowledgement(_: number, headers: HttpAnswer['headers']): ReadLimit {
  return isEncoded(headers) || headers['content-length'] === '0' ? 'nothing' : BEGINNING;
}
