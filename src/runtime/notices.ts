import type * as z from 'zod/mini';
import { Content } from '../events/content.js';
import type { RequestEvent } from '../events/events.js';
import { type Exchange, isOpen } from '../events/exchange.js';
import { type Log, recordRequest } from '../events/log.js';
import { isEncoded } from '../http/body.js';
import {
  explainFailure,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
  type ReadLimit,
  TransportError,
} from '../http/client.js';
import { type choiceResponseSchema, NOTICES, type Notice } from '../protocol/invocation.js';
import { messageOf, ProtocolCliError } from '../util/errors.js';

/** Sends requests, records them, and adds the credentials of their origin. */
export interface Wire {
  readonly client: HttpClient;
  readonly log: Log;
  readonly credentials: Credentials;
}

/** Headers for one origin; they are sent to no other (threats, row 12). */
export interface Credentials {
  readonly origin: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface About {
  readonly purpose: RequestEvent['purpose'];
  readonly attempt: number;
  readonly calls?: string[];
  readonly thread?: string;
}

/**
 * Sends one request and records it with its answer.
 * @throws ProtocolCliError `unreachable` or `refused-address`, with the address and the reason.
 */
export async function recordedSend(wire: Wire, about: About, request: HttpRequest): Promise<HttpAnswer> {
  try {
    return await send(wire, about, request);
  } catch (error) {
    throw error instanceof TransportError ? explainFailure(error, request.url, 'tool') : error;
  }
}

/** Like {@link recordedSend}, but throws a {@link TransportError}. */
export async function send(
  { client, log, credentials }: Wire,
  about: About,
  request: HttpRequest,
): Promise<HttpAnswer> {
  const { method, url, body } = request;
  const isOwnOrigin = URL.canParse(url) && new URL(url).origin === credentials.origin;
  const headers = { ...request.headers, ...(isOwnOrigin && credentials.headers) };
  const content = body && { body: new Content(body) };
  const route = { from: 'runtime', to: 'tool' } as const;
  const recorded = recordRequest(log, { ...route, method, url, headers, ...about, ...content });
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

/** A selection gets more time than a notice: the user waits for its effect, and it is sent once. */
const SELECTION_TIMEOUT_MS = 10_000;

const NOTICE_TIMEOUT_MS = 1_000;

const EXCERPT = { maxBytes: 4 * 1024, partial: true } as const;

/** The answer to a message. Only 200 means that the tool accepted it. */
export type NoticeAnswer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** The beginning of the response body of a refusal. */
      readonly excerpt: string;
      /** Null if the size is unknown. */
      readonly bodySize: number | null;
    }
  | { readonly kind: 'unanswered'; readonly reason: string; readonly hint?: string };

interface Waiting {
  /** Default: 1,000; 0 for no limit. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** Sends a notice once; never throws (RT-NOTIFY). */
export function notify(
  wire: Wire,
  base: string,
  notice: Notice,
  waiting: Waiting = {},
  calls?: string[],
): Promise<NoticeAnswer> {
  const { kind, message } = notice;
  const thread = 'thread_id' in message ? { thread: message.thread_id } : {};
  const about: About = { purpose: kind, attempt: 1, ...thread, ...(calls && { calls }) };
  return post(wire, about, base + NOTICES[kind].path, message, waiting);
}

/** Sends `/close_thread` once; never throws (RT-NOTIFY). */
export function closeThread(
  wire: Wire,
  base: string,
  thread: string,
  waiting?: Waiting,
): Promise<NoticeAnswer> {
  return notify(wire, base, { kind: 'close', message: { thread_id: thread } }, waiting);
}

/** Sends `/cancel_tool_call` once; a result may still come. Never throws (RT-NOTIFY). */
export function cancelToolCall(
  wire: Wire,
  base: string,
  { key, thread, id }: { key: string; thread: string; id: string },
  waiting?: Waiting,
): Promise<NoticeAnswer> {
  const message = { thread_id: thread, tool_call_id: id };
  return notify(wire, base, { kind: 'cancel', message }, waiting, [key]);
}

/** Sends the user's selection (RT-CHOICE); never throws. If it does not arrive, the call stays pending. */
export function respondToChoice(
  wire: Wire,
  url: string,
  { key, thread, signal }: { key: string; thread: string; signal: AbortSignal },
  response: z.infer<typeof choiceResponseSchema>,
): Promise<NoticeAnswer> {
  const about: About = { purpose: 'choice', attempt: 1, thread, calls: [key] };
  return post(wire, about, url, response, { timeoutMs: SELECTION_TIMEOUT_MS, signal });
}

export function isAccepted(answer: NoticeAnswer): boolean {
  return answer.kind === 'answered' && answer.status === 200;
}

async function post(
  wire: Wire,
  about: About,
  url: string,
  message: Notice['message'] | z.infer<typeof choiceResponseSchema>,
  { timeoutMs = NOTICE_TIMEOUT_MS, signal }: Waiting,
): Promise<NoticeAnswer> {
  // The answer to a notice should have no body (TOOL-CLOSE, TOOL-CANCEL); reading its beginning shows whether it does.
  const readAccepted =
    about.purpose === 'choice' ? (): ReadLimit => 'nothing' : readBeginning(500, EXCERPT.maxBytes);
  try {
    const { status, headers, body } = await recordedSend(wire, about, {
      method: 'POST',
      url,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(message)),
      read: (status, headers) => (status === 200 ? readAccepted(status, headers) : EXCERPT),
      timeoutMs,
      ...(signal && { signal }),
    });
    const excerpt = status === 200 ? '' : Buffer.from(body).toString('utf8').trim();
    const announced = headers['content-length'];
    const size = body.length > 0 ? null : 0;
    return {
      kind: 'answered',
      status,
      excerpt,
      bodySize: announced === undefined ? size : Number(announced),
    };
  } catch (error) {
    const reason = messageOf(error);
    const hint = error instanceof ProtocolCliError ? error.hint : undefined;
    return { kind: 'unanswered', reason, ...(hint !== undefined && { hint }) };
  }
}

function readBeginning(withinMs: number, maxBytes: number) {
  return (_: number, headers: HttpAnswer['headers']): ReadLimit =>
    isEncoded(headers) || headers['content-length'] === '0'
      ? 'nothing'
      : { maxBytes, partial: true, withinMs };
}

/**
 * Reads enough of an acknowledgement's body to detect a result in it (TOOL-ASYNC). The wait is well below the tolerance for late
 * acknowledgements (TOOL-ACK), because the answer is recorded only afterwards.
 */
export const readAcknowledgement = readBeginning(50, 16 * 1024);

/** Cancels a call or its subscription, locally and at the tool. Never throws. */
export function cancelCall(
  wire: Wire,
  base: string,
  { key, invocation: { id, group_id: thread } }: Exchange,
  by: 'person' | 'policy',
  waiting?: Waiting,
): Promise<NoticeAnswer> {
  wire.log.emit({ kind: 'decided', what: 'cancel', by, calls: [key] });
  return cancelToolCall(wire, base, { key, thread, id }, waiting);
}

interface EndOptions {
  readonly wire: Wire;
  /** Null without discovery, which gives the address for notices. */
  readonly base: string | null;
  /** Whether this runtime created the thread. */
  readonly isOurThread: boolean;
  /** If false, the thread is left open. */
  readonly closes: boolean;
  /** Waits for callbacks that may still arrive after a cancel. */
  readonly waitForCallbacks: () => Promise<void>;
}

/**
 * Notifies the tool that a call is over: cancels a call that was given up, or a subscription, and closes the thread if this runtime
 * created it. A call that timed out is not canceled: a late result does no harm, unless it opens a subscription.
 */
export async function endCall(
  exchange: Exchange,
  { wire, base, isOurThread, closes, waitForCallbacks }: EndOptions,
): Promise<void> {
  const { key, invocation, settled, subscription } = exchange;
  if (base === null || settled?.by === 'denial') return;
  const { group_id: thread, id } = invocation;
  const isLeftOpen = isOpen(exchange) && !isOurThread; // closing the thread would also end the subscription
  if (isLeftOpen) wire.log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] });
  if (isLeftOpen || settled?.by === 'cancel' || subscription?.ended?.by === 'cancel') {
    await cancelToolCall(wire, base, { key, thread, id });
    await waitForCallbacks();
  }
  if (isOurThread && closes) await closeThread(wire, base, thread);
}
