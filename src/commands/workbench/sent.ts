import type { Book } from '../../exchange/book.js';
import type { RequestEvent } from '../../exchange/events.js';
import { shareableText } from '../../exchange/shareable.js';
import type { Invocation } from '../../protocol/invocation.js';
import { readInvocation } from '../../protocol/read-invocation.js';
import { parseJson } from '../../text/json.js';
import type { Redactor } from '../../text/redact.js';

/** An invocation as it went out, and as it may be told. */
export interface SentCall {
  readonly request: RequestEvent;
  /** Secrets out. */
  readonly invocation: Invocation;
}

/** The invocation of a call; null where none went out over RAP, or it cannot be read. */
export function sentCall(book: Book, key: string, redactor: Redactor): SentCall | null {
  const request = book.of(key).find(event => event.kind === 'request' && event.purpose === 'invocation');
  if (request?.kind !== 'request' || request.dialect !== undefined || !request.body) return null;
  const reading = readInvocation(parseJson(shareableText(request.body, redactor) ?? ''));
  return reading.ok ? { request, invocation: reading.invocation } : null;
}
