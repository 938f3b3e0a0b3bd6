import { REDACTED } from './redact.js';

/** Parses an absolute URL; null if invalid. */
export function readUrl(text: string): URL | null {
  try {
    return new URL(text);
  } catch {
    return null;
  }
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Whether a page may be offered to the user (TOOL-OAUTH; threats, row 13): https, or http on loopback for a tool under development. A
 * user name before the host (`https://bank.example@evil.example`) would disguise the real host.
 */
export function isSafeToVisit(text: string): boolean {
  const url = readUrl(text);
  if (!url) return false;
  const { protocol, hostname, username, password } = url;
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
}

/** A URL without user, query and fragment; the placeholder if the URL is invalid. */
export function urlWithoutQuery(text: string): string {
  const url = readUrl(text);
  return url ? `${url.protocol}//${url.host}${url.pathname}` : REDACTED;
}

const TOKEN_LIKE = /[\w.~-]{16}/;

/** As {@link urlWithoutQuery}, also for a path alone, with possible tokens in the path redacted. */
export function tokenlessUrl(text: string): string {
  const bare = text.startsWith('/') ? text.replace(/[?#].*/s, '') : urlWithoutQuery(text);
  const [origin = ''] = /^(?:[a-z]+:\/\/[^/]*)?/i.exec(bare) ?? [];
  const segments = bare.slice(origin.length).split('/');
  return origin + segments.map(each => (mayBeToken(each) ? REDACTED : each)).join('/');
}

/** Counts a percent-encoded character as one character. */
function mayBeToken(segment: string): boolean {
  return TOKEN_LIKE.test(segment.replace(/%[\da-f]{2}/gi, '_'));
}

const OWN_CALLBACK = /\/callback\/(?:[\w-]{43}|\[redacted\])(.*)$/s;

/** The part of a callback URL of this program after its token; null for other URLs. */
export function callbackEnding(url: string): string | null {
  return OWN_CALLBACK.exec(url)?.[1] ?? null;
}
