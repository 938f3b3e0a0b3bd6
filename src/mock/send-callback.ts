import type { Content } from '../events/content.js';
import type { Turn } from '../events/events.js';
import type { HttpAnswer, HttpClient, HttpRequest } from '../http/client.js';
import { readJson } from '../util/json.js';
import { isRecord } from '../util/json-diagnosis.js';

/** A message to the runtime: these bytes, to exactly this address (TOOL-OPAQUE). */
export interface Callback {
  /** The call it belongs to. */
  readonly key: string;
  readonly thread: string;
  /** Unchanged from the invocation. */
  readonly url: string;
  readonly body: Content;
  /** `application/json` by default; a fault may set another. */
  readonly contentType?: string | undefined;
  /** `slow`: the body is sent in small pieces, over about two seconds. */
  readonly pace?: 'slow' | undefined;
  /** Why the callback is not needed any more, or null. Called before each attempt. */
  readonly cancelReason?: (() => string | null) | undefined;
  /** For the journal: where the reply continues after this message. */
  readonly turn?: Turn | undefined;
}

/** `attempts` counts requests; 0 if the callback was refused before the first. */
export type Delivery =
  | { readonly delivered: true; readonly status: number; readonly attempts: number }
  | { readonly delivered: false; readonly why: string; readonly attempts: number };

/** Journals of earlier versions contain this text. */
const STOPPED = 'the tool was stopped before it was delivered';

/** @param because why the last attempt failed. */
export function stopped(because?: string): string {
  return because === undefined ? STOPPED : `${STOPPED}: ${because}`;
}

/** True if the next run can still deliver the callback from the journal. */
export function wasStopped(why: string): boolean {
  return why.startsWith(STOPPED);
}

/** The `type` of a message. Parsed each time, so that the parsed message is not kept in memory. */
export function typeOf({ bytes }: Pick<Content, 'bytes'>): string | undefined {
  const json = readJson(bytes);
  const type = json.ok && isRecord(json.value) ? json.value['type'] : undefined;
  return typeof type === 'string' ? type : undefined;
}

const JSON_HEADERS = Object.freeze({ 'content-type': 'application/json' });
const NO_BYTES = new Uint8Array(0);
/** The start of an error body helps a person. */
const ERROR_BODY = { maxBytes: 4 * 1024, partial: true };
const SLOW_PIECES = 20;
const SLOW_EVERY_MS = 100;

/** Events hold on to these headers: JSON callbacks share one object. */
export function headersOf({ contentType }: Callback): Readonly<Record<string, string>> {
  const isJson = contentType === undefined || contentType === JSON_HEADERS['content-type'];
  return isJson ? JSON_HEADERS : { 'content-type': contentType };
}

/**
 * POSTs a callback. If only the body of the answer fails, the status still counts.
 * @throws TransportError if there is no status.
 */
export async function send(client: HttpClient, timeoutMs: number, callback: Callback): Promise<HttpAnswer> {
  let head: HttpAnswer | null = null;
  const request: HttpRequest = {
    method: 'POST',
    url: callback.url,
    headers: headersOf(callback),
    body: callback.body.bytes,
    read(status, headers) {
      head = { status, headers, body: NO_BYTES };
      return status < 300 ? 'nothing' : ERROR_BODY;
    },
    timeoutMs,
    ...(callback.pace === 'slow' && slowly(callback.body.size, timeoutMs)),
  };
  try {
    return await client.send(request);
  } catch (error) {
    if (head) return head;
    throw error;
  }
}

function slowly(size: number, timeoutMs: number): Pick<HttpRequest, 'pace' | 'timeoutMs'> {
  const pace = { bytes: Math.max(1, Math.ceil(size / SLOW_PIECES)), everyMs: SLOW_EVERY_MS };
  return { pace, timeoutMs: timeoutMs + SLOW_PIECES * SLOW_EVERY_MS };
}
