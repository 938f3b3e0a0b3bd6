const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word as a POSIX shell takes it for just these characters. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The same, without quotes where a shell would do nothing to it. */
export function shellWord(text: string): string {
  return PLAIN.test(text) ? text : quoted(text);
}
