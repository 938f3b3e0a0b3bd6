import type { HttpAnswer, HttpClient, HttpRequest, ReadLimit } from '../../transport/client.js';
import type { Callback } from './callback.js';

/** Who sends, and how long it may take, in ms. */
export interface Sender {
  readonly client: HttpClient;
  readonly timeoutMs: number;
}

const JSON_HEADERS = Object.freeze({ 'content-type': 'application/json' });
const NOTHING = new Uint8Array(0);
const SLOW_PIECES = 20;
const SLOW_EVERY_MS = 100;

/** The one object for nearly all of them: events hold on to it. */
export function headersOf({ contentType }: Callback): Readonly<Record<string, string>> {
  const isJson = contentType === undefined || contentType === JSON_HEADERS['content-type'];
  return isJson ? JSON_HEADERS : { 'content-type': contentType };
}

/**
 * POSTs a callback. Where only the body of its answer breaks, the status stands all the same: a 404 is not asked again because its
 * text came too slowly.
 * @throws TransportError where there is no status.
 */
export async function send({ client, timeoutMs }: Sender, callback: Callback): Promise<HttpAnswer> {
  let head: HttpAnswer | null = null;
  const request: HttpRequest = {
    method: 'POST',
    url: callback.url,
    headers: headersOf(callback),
    body: callback.body.bytes,
    read(status, headers) {
      head = { status, headers, body: NOTHING };
      return readingFor(status);
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

/** The beginning of a refusal helps a person; a runtime's thanks are not read. */
function readingFor(status: number): ReadLimit {
  return status < 300 ? 'nothing' : { maxBytes: 4 * 1024, partial: true };
}

function slowly(size: number, timeoutMs: number): Pick<HttpRequest, 'pace' | 'timeoutMs'> {
  const pace = { bytes: Math.max(1, Math.ceil(size / SLOW_PIECES)), everyMs: SLOW_EVERY_MS };
  return { pace, timeoutMs: timeoutMs + SLOW_PIECES * SLOW_EVERY_MS };
}
