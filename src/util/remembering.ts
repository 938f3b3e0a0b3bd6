const REMEMBERED = 1_000;
/** Characters. Longer words are not cached. */
const LONGEST = 256;

/**
 * Caches a pure function of words in bounded memory.
 * @param judge never returns `undefined`.
 */
export function remembering<T>(judge: (word: string) => T): (word: string) => T {
  const known = new Map<string, T>();
  return word => {
    const found = known.get(word);
    if (found !== undefined) return found;
    const judged = judge(word);
    if (word.length > LONGEST) return judged;
    if (known.size === REMEMBERED) known.clear();
    known.set(word, judged);
    return judged;
  };
}
