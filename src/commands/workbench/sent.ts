import type { RequestEvent } from '../../exchange/events.js';
import { shareableText } from '../../exchange/shareable.js';
import type { Invocation } from '../../protocol/invocation.js';
import { readInvocation } from '../../protocol/read-invocation.js';
import { parseJson } from '../../text/json.js';
import type { Redactor } from '../../text/redact.js';
import type { Volume } from '../../ui/workbench/world.js';

/** An invocation as it went out, and as it may be told. */
export interface SentCall {
  readonly request: RequestEvent;
  /** Secrets out. */
  readonly invocation: Invocation;
  /** Of where it was found. */
  readonly redactor: Redactor;
}

/** The invocation of a call; null where none went out over RAP, or it cannot be read. */
export function sentCall({ book, redactor }: Volume, key: string): SentCall | null {
  const request = book.of(key).find(event => event.kind === 'request' && event.purpose === 'invocation');
  if (request?.kind !== 'request' || request.dialect !== undefined || !request.body) return null;
  const reading = readInvocation(parseJson(shareableText(request.body, redactor) ?? ''));
  return reading.ok ? { request, invocation: reading.invocation, redactor } : null;
}
