let last: { readonly text: string; readonly url: URL } | undefined;

/**
 * Null where a text is no absolute URL. Asked of one callback URL several times in a row, and parsed once: that costs as much as all
 * the rest of what is asked. Nobody changes what it gives.
 */
export function readUrl(text: string): URL | null {
  if (last?.text === text) return last.url;
  try {
    last = { text, url: new URL(text) };
    return last.url;
  } catch {
    return null;
  }
}
