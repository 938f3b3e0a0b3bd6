import type { HttpAnswer, ReadLimit } from '../transport/client.js';
import { isEncoded } from '../transport/coding.js';

/** Enough to see whether a result is in it (TOOL-ASYNC), and no more time than somebody needs who has it ready. */
const BEGINNING = { maxBytes: 16 * 1024, partial: true, withinMs: 200 } as const;

/** Of an acknowledgement's body, the beginning; nothing of what is encoded. */
export function readAcknowledgement(_: number, headers: HttpAnswer['headers']): ReadLimit {
  return isEncoded(headers) || headers['content-length'] === '0' ? 'nothing' : BEGINNING;
}
