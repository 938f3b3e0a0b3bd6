import type { HttpRequest } from './client.js';

/** The headers to send: what was asked for, and no encoding of the answer (threats, row 16). */
export function headersFor({ headers = {} }: HttpRequest): Record<string, string> {
  const given = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'accept-encoding');
  return Object.fromEntries([...given, ['accept-encoding', 'identity']]);
}

/** Bytes of an answer's head that are read. */
export const MAX_HEADER_BYTES = 16 * 1024;
