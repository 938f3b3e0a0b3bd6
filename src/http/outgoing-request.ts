import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpRequest, Pace } from './client.js';

/** Returns the headers to send; they forbid an encoded response (threats, row 16). */
export function headersFor({ headers = {}, body, pace }: HttpRequest): Record<string, string> {
  const sent: Record<string, string> = {};
  for (const name of Object.keys(headers))
    if (name.toLowerCase() !== 'accept-encoding') sent[name] = headers[name] ?? '';
  sent['accept-encoding'] = 'identity';
  if (body && pace) sent['content-length'] = String(body.length);
  return sent;
}

/** A URL that the parser accepts as it is written. */
const WRITTEN_STRICTLY = /^https?:\/\/[^/?#\\\0- ]+(?<written>[/?#][^\0- ]*)?$/i;

/** Matches what the URL parser does not expose: an empty query, and the fragment, which must be removed. */
const HIDDEN = /\?$|#/;

const NOT_ASCII = /[^!-~]+/g;

/**
 * Returns the request target exactly as the URL was written (TOOL-OPAQUE): nothing is resolved or re-encoded, an empty query is kept.
 * Only characters that a request line cannot contain are percent-encoded. An invalid URL is sent as the parser reads it.
 * @param parsed the same URL.
 */
export function requestTarget(url: string, parsed: URL): string {
  if (parsed.href === url && !HIDDEN.test(url)) return parsed.pathname + parsed.search;
  const strict = WRITTEN_STRICTLY.exec(url);
  if (!strict) return parsed.pathname + parsed.search;
  const [written = ''] = strict.groups?.['written']?.split('#', 1) ?? [];
  const target = written.startsWith('/') ? written : `/${written}`;
  return target.replace(NOT_ASCII, characters => encodeURIComponent(characters.toWellFormed()));
}

/** Returns the body to send: with a pace, a stream of pieces. */
export function bodyOf({ body, pace }: HttpRequest): Readable | Uint8Array | null {
  return body && pace ? Readable.from(drip(body, pace)) : (body ?? null);
}

async function* drip(body: Uint8Array, { bytes, everyMs }: Pace): AsyncGenerator<Uint8Array> {
  for (let sent = 0; sent < body.length; sent += bytes) {
    if (sent > 0) await sleep(everyMs);
    yield body.subarray(sent, sent + bytes);
  }
}
