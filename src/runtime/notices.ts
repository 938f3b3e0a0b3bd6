import { ProtocolCliError } from '../errors.js';
import { cancelToolCallUrl, closeThreadUrl, migrateUrl } from '../protocol/addresses.js';
import type { CancelToolCall, ChoiceResponse, CloseThread, Migrate } from '../protocol/notices.js';
import type { HttpAnswer, ReadLimit } from '../transport/client.js';
import { isEncoded } from '../transport/coding.js';
import { type About, recordedSend, type Wire } from './wire.js';

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
