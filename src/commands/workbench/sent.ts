import type { Event, RequestEvent } from '../../exchange/events.js';
import { shareableText } from '../../exchange/shareable.js';
import type { Invocation } from '../../protocol/invocation.js';
import { readInvocation } from '../../protocol/read-invocation.js';
import { parseJson } from '../../text/json.js';
import type { Redactor } from '../../text/redact.js';
import type { Volume } from '../../ui/workbench/world.js';

/** An invocation as it went out, and as it may be told. */
export interface SentCall {
  readonly request: RequestEvent;
  /** Where it went, secrets in. */
  readonly url: string;
  /** Secrets out. */
  readonly invocation: Invocation;
  /** Of where it was found. */
  readonly redactor: Redactor;
}

/** The invocation of a call; null where none went out over RAP, or it cannot be read, or nobody knows where it went. */
export function sentCall(
  { book, redactor }: Pick<Volume, 'book' | 'redactor'>,
  key: string,
): SentCall | null {
  const requests = book.of(key).filter(isInvocation);
  const request = requests.find(({ url }) => !isPath(url)) ?? requests[0];
  const url = request ? addressOf(request) : null;
  if (!request?.body || request.dialect !== undefined || url === null) return null;
  const reading = readInvocation(parseJson(shareableText(request.body, redactor) ?? ''));
  return reading.ok ? { request, url, invocation: reading.invocation, redactor } : null;
}

function isInvocation(event: Event): event is RequestEvent {
  return event.kind === 'request' && event.purpose === 'invocation';
}

/** Whoever receives a request sees no more of its address than the path, and the name that it was called by. */
function addressOf({ url, headers }: RequestEvent): string | null {
  if (!isPath(url)) return url;
  const [, host = ''] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'host') ?? [];
  return HOST.test(host) ? `http://${host}${url}` : null;
}

function isPath(url: string): boolean {
  return url.startsWith('/');
}

/** A name or an address, and a port. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;
