import { REDACTED } from '../util/redact.js';

/** How the URL of a callback differs from the given one. */
export interface UrlDifference {
  /** `its query was left out` */
  readonly what: string;
  /** Whether a part of it was decoded. */
  readonly isDecoded: boolean;
}

/**
 * Compares the URL of a callback with the given one; null if they do not differ. Reveals neither URL: anyone who knows it can post to the
 * conversation. A proxy before the listener may have removed the beginning of the path.
 */
export function urlDifference(given: string, used: string): UrlDifference | null {
  const [want, came] = [normalized(targetOf(given)), normalized(targetOf(used))];
  if (want.endsWith(came) || normalized(parsed(want)).endsWith(came) || isSameRedacted(want, came))
    return null;
  return { what: changeOf(want, came), isDecoded: hasFewerEscapes(want, came) };
}

function changeOf(want: string, came: string): string {
  const [wantPath = '', wantQuery = ''] = want.split(/\?(.*)/s);
  const [path = '', query] = came.split(/\?(.*)/s);
  if (query !== wantQuery && wantPath.endsWith(path)) {
    if (query === undefined) return 'its query was left out';
    return decoded(query) === decoded(wantQuery)
      ? 'the encoding of its query was changed'
      : 'its query was changed';
  }
  if (wantPath.replace(/\/$/, '').endsWith(path.replace(/\/$/, ''))) return 'its trailing slash was changed';
  return decoded(wantPath).endsWith(decoded(path)) ? 'its encoding was changed' : 'its path was changed';
}

function hasFewerEscapes(want: string, came: string): boolean {
  return decoded(want).endsWith(decoded(came)) && came.split('%').length < want.split('%').length;
}

/** The part of a URL that a request line has: path and query. */
function targetOf(url: string): string {
  const target = url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*$/s, '');
  return target.startsWith('/') ? target : `/${target}`;
}

/** The same for equivalent escapes: of unreserved characters, and in lower case (RFC 3986, sections 6.2.2.1 and 6.2.2.2). */
function normalized(target: string): string {
  return target.replace(/%[\da-f]{2}/gi, code => {
    const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
    return /[\w.~-]/.test(character) ? character : code.toUpperCase();
  });
}

/** The form that clients which follow the URL standard write. */
function parsed(target: string): string {
  const base = 'http://callback.invalid';
  return URL.canParse(target, base) ? targetOf(new URL(target, base).href) : target;
}

/** Whether the URLs are equal where neither is redacted. */
function isSameRedacted(want: string, came: string): boolean {
  if (!want.includes(REDACTED) && !came.includes(REDACTED)) return false;
  const used = came.split(/([/?&=])/);
  const given = want.split(/([/?&=])/).slice(-used.length);
  return used.every((piece, index) => {
    const other = given[index];
    if (other === undefined) return false;
    const isCutPath = index === 0 && piece === '';
    return piece === other || isCutPath || piece.includes(REDACTED) || other.includes(REDACTED);
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.toLowerCase();
  }
}
