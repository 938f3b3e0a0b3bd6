import type { HttpAnswer, ReadLimit } from '../transport/client.js';
import { isEncoded } from '../transport/coding.js';

/**
 * Enough to see whether a result is in it (TOOL-ASYNC). The headers alone acknowledge, and an answer is told when it was read: whoever
 * sends them at once is not to be blamed for the rest, so this is well below what is tolerated (TOOL-ACK).
 */
const BEGINNING = { maxBytes: 16 * 1024, partial: true, withinMs: 50 } as const;

/** Of an acknowledgement's body, the beginning; nothing of what is encoded. */
export function readAcknowledgement(_: number, headers: HttpAnswer['headers']): ReadLimit {
  return isEncoded(headers) || headers['content-length'] === '0' ? 'nothing' : BEGINNING;
}
