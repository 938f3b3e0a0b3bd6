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
  const [givenTarget, usedTarget] = [normalized(targetOf(given)), normalized(targetOf(used))];
  if (
    givenTarget.endsWith(usedTarget) ||
    normalized(standardForm(givenTarget)).endsWith(usedTarget) ||
    isSameRedacted(givenTarget, usedTarget)
  )
    return null;
  return { what: changeOf(givenTarget, usedTarget), isDecoded: hasFewerEscapes(givenTarget, usedTarget) };
}

function changeOf(givenTarget: string, usedTarget: string): string {
  const [givenPath = '', givenQuery = ''] = givenTarget.split(/\?(.*)/s);
  const [usedPath = '', usedQuery] = usedTarget.split(/\?(.*)/s);
  if (usedQuery !== givenQuery && givenPath.endsWith(usedPath)) {
    if (usedQuery === undefined) return 'its query was left out';
    return decoded(usedQuery) === decoded(givenQuery)
      ? 'the encoding of its query was changed'
      : 'its query was changed';
  }
  if (givenPath.replace(/\/$/, '').endsWith(usedPath.replace(/\/$/, '')))
    return 'its trailing slash was changed';
  return decoded(givenPath).endsWith(decoded(usedPath)) ? 'its encoding was changed' : 'its path was changed';
}

function hasFewerEscapes(givenTarget: string, usedTarget: string): boolean {
  return (
    decoded(givenTarget).endsWith(decoded(usedTarget)) &&
    usedTarget.split('%').length < givenTarget.split('%').length
  );
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
function standardForm(target: string): string {
  const base = 'http://callback.invalid';
  return URL.canParse(target, base) ? targetOf(new URL(target, base).href) : target;
}

/** Whether the URLs are equal where neither is redacted. */
function isSameRedacted(givenTarget: string, usedTarget: string): boolean {
  if (!givenTarget.includes(REDACTED) && !usedTarget.includes(REDACTED)) return false;
  const usedPieces = usedTarget.split(/([/?&=])/);
  const givenPieces = givenTarget.split(/([/?&=])/).slice(-usedPieces.length);
  return usedPieces.every((piece, index) => {
    const other = givenPieces[index];
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
