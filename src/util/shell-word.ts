const PLAIN = /^[\w@+=:,./-]+$/;

/** A word of a command line to paste: quoted for `cmd` on Windows, elsewhere for a POSIX shell. Plain words stay as they are. */
export function shellWord(text: string, platform: NodeJS.Platform): string {
  return PLAIN.test(text) ? text : quotedWord(text, platform);
}

/** As {@link shellWord}, but plain words are quoted too. */
export function quotedWord(text: string, platform: NodeJS.Platform): string {
  return platform === 'win32' ? cmdWord(text) : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** What `cmd` reads even between double quotes, or would take for the end of them. */
const READ_BETWEEN_QUOTES = /["%!]/;

const META = /[()%!^"<>&|]/g;

/** Quotes as programs of Windows split their command line; then, if needed, hides all of it from `cmd`. */
function cmdWord(text: string): string {
  const word = `"${text.replace(/(\\*)"/g, '$1$1\\"').replace(/\\+$/, '$&$&')}"`;
  return READ_BETWEEN_QUOTES.test(text) ? word.replace(META, '^$&') : word;
}

/** Whether a word still has the single quotes that `cmd` does not know: `'node`, `server.mjs'`. */
export function hasForeignQuotes(words: readonly string[], platform: NodeJS.Platform): boolean {
  return platform === 'win32' && words.some(word => /^'|[^']'$/.test(word));
}
