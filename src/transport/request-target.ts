const STRICT = /^https?:\/\/[^/?#\\\0- ]+(?<written>[/?#][^\0- ]*)?$/i;
/** What the parser has no word for: an empty query, and a fragment. */
const HIDDEN = /\?$|#/;
const NOT_ASCII = /[^!-~]+/g;

/**
 * The request target as the url was written (TOOL-OPAQUE): nothing resolved, nothing re-encoded, an empty query kept. Only what no
 * request line can carry is percent-encoded. A url that only a lenient parser understands is sent as that one reads it.
 * @param parsed the same url.
 */
export function requestTarget(url: string, parsed: URL): string {
  if (parsed.href === url && !HIDDEN.test(url)) return parsed.pathname + parsed.search;
  const strict = STRICT.exec(url);
  if (!strict) return parsed.pathname + parsed.search;
  const [written = ''] = strict.groups?.['written']?.split('#', 1) ?? [];
  const target = written.startsWith('/') ? written : `/${written}`;
  return target.replace(NOT_ASCII, characters => encodeURIComponent(characters.toWellFormed()));
}
