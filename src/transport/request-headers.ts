import type { HttpRequest } from './client.js';

/** The headers to send: what was asked for, and no encoding of the answer (threats, row 16). A body in pieces keeps its length. */
export function headersFor({ headers = {}, body, pace }: HttpRequest): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const name of Object.keys(headers))
    if (name.toLowerCase() !== 'accept-encoding') sent[name] = headers[name] ?? '';
  sent['accept-encoding'] = 'identity';
  if (body && pace) sent['content-length'] = String(body.length);
  return sent;
}

/** Bytes of an answer's head that are read. */
export const MAX_HEADER_BYTES = 16 * 1024;
