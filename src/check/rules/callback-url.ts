import { REDACTED } from '../../util/redact.js';

/** The part of a URL that a request line has: path and query. */
function targetOf(url: string): string {
  const target = url.replace(/^https?:\/\/[^/?#]*/i, '').replace(/#.*$/s, '');
  return target.startsWith('/') ? target : `/${target}`;
}

/** As every client writes it that follows the URL standard. */
function normalized(target: string): string {
  const base = 'http://callback.invalid';
  return URL.canParse(target, base) ? targetOf(new URL(target, base).href) : target;
}

/**
 * How the URL of a callback differs from the given one; null if it does not. Names neither URL: anyone who knows it can post to the
 * conversation. A proxy before the listener may have removed the beginning of the path.
 */
export function urlDifference(given: string, used: string): string | null {
  const [want, came] = [targetOf(given), targetOf(used)];
  if (want.endsWith(came) || normalized(want).endsWith(came) || isSameRedacted(want, came)) return null;
  const [wantPath = '', wantQuery] = want.split(/\?(.*)/s);
  const [path = '', query] = came.split(/\?(.*)/s);
  if (query !== wantQuery && wantPath.endsWith(path)) return queryDifference(wantQuery, query);
  if (wantPath.replace(/\/$/, '').endsWith(path.replace(/\/$/, ''))) return 'its trailing slash was changed';
  return decoded(wantPath).endsWith(decoded(path)) ? 'its encoding was changed' : 'its path was changed';
}

function queryDifference(want: string | undefined, came: string | undefined): string {
  if (came === undefined) return 'its query was left out';
  if (want === undefined) return 'a query was added';
  return decoded(want) === decoded(came) ? 'its encoding was changed' : 'its query was changed';
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

/** The parts of a URL that a tool could change by mistake. */
export function urlFeatures(given: string): readonly string[] {
  const [path = '', query = ''] = targetOf(given).split(/\?(.*)/s);
  return [
    ...(query === '' ? [] : ['a query']),
    ...(path.endsWith('/') ? ['a trailing slash'] : []),
    ...(/%[\da-f]{2}/i.test(path + query) ? ['encoded characters'] : []),
  ];
}
