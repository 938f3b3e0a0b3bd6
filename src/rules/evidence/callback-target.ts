import { REDACTED } from '../../text/redact.js';

/** What of an address a request line shows: path and query. An address that is no URL, or a path already, stays as it is. */
export function targetOf(address: string): string {
  const target = address.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*$/s, '');
  return target.startsWith('/') ? target : `/${target}`;
}

/** As every client writes it that goes by the URL standard. */
function standardOf(target: string): string {
  const base = 'http://callback.invalid';
  return URL.canParse(target, base) ? targetOf(new URL(target, base).href) : target;
}

/**
 * How the address of a callback differs from that which was given, without telling either: whoever has it can speak into a
 * conversation. Null where it does not. A proxy before the listener may have taken the beginning of the path away.
 */
export function differenceOf(given: string, used: string): string | null {
  const [want, came] = [targetOf(given), targetOf(used)];
  if (want.endsWith(came) || standardOf(want).endsWith(came) || isAsRedacted(want, came)) return null;
  const [wantPath = '', wantQuery] = want.split(/\?(.*)/s);
  const [path = '', query] = came.split(/\?(.*)/s);
  if (query !== wantQuery && wantPath.endsWith(path)) return queryDifference(wantQuery, query);
  if (slashless(wantPath).endsWith(slashless(path))) return 'its trailing slash was changed';
  return decoded(wantPath).endsWith(decoded(path)) ? 'its encoding was changed' : 'its path was changed';
}

/** What was redacted in either may have been what the other has in its place. */
function isAsRedacted(want: string, came: string): boolean {
  if (!want.includes(REDACTED) && !came.includes(REDACTED)) return false;
  const [given, used] = [want, came].map(target => target.split(/([/?&=])/));
  if (!given || !used) return false;
  const left = given.slice(-used.length);
  return used.every((piece, index) => piece === left[index] || isCovered(piece, left[index], index));
}

/** A path that has lost its beginning begins with nothing. */
function isCovered(piece: string, other: string | undefined, index: number): boolean {
  if (other === undefined) return false;
  return (index === 0 && piece === '') || piece.includes(REDACTED) || other.includes(REDACTED);
}

function queryDifference(want: string | undefined, came: string | undefined): string {
  if (came === undefined) return 'its query was left out';
  if (want === undefined) return 'a query was added';
  return decoded(want) === decoded(came) ? 'its encoding was changed' : 'its query was changed';
}

function slashless(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text.toLowerCase();
  }
}

/** What there is in an address that could have been changed. */
export function featuresOf(given: string): readonly string[] {
  const [path = '', query = ''] = targetOf(given).split(/\?(.*)/s);
  return [
    ...(query === '' ? [] : ['a query']),
    ...(path.endsWith('/') ? ['a trailing slash'] : []),
    ...(/%[\da-f]{2}/i.test(path + query) ? ['encoded characters'] : []),
  ];
}
