/** C0 but the line feed, DEL, C1, bidi controls, zero-width characters, separators, the byte-order mark. */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** The characters of a text that could act on a terminal, or hide (threats, row 24). */
export function unsafeIn(text: string): string[] {
  return [...text.matchAll(UNSAFE)].map(
    ([found]) => `U+${found.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Where two byte strings part; null where they are the same. A test that fails must not print megabytes. */
export function firstDifference(one: Buffer, other: Buffer): string | null {
  if (one.equals(other)) return null;
  const at = one.findIndex((byte, index) => byte !== other[index]);
  return `lengths ${one.length} and ${other.length}, parting at ${at < 0 ? one.length : at}`;
}

/** A line of a stack trace: no one who did not ask for it with -v should see one. */
export const STACK_LINE = /^\s+at .+:\d+:\d+/m;
