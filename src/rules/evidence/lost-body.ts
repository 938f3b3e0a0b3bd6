import type { RequestEvent, ResponseEvent } from '../../exchange/events.js';

/** Whether a message had a body that is not there to judge: a transcript that was cut refers to it, or its length is told. */
export function isBodyLost(event: RequestEvent | ResponseEvent): boolean {
  if (event.body) return false;
  return 'body' in event || Number(event.headers['content-length'] ?? 0) > 0;
}
