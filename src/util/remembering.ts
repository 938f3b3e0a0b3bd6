const REMEMBERED = 1_000;
/** Characters. Longer words are rare, and would make the memory large. */
const LONGEST = 256;

/**
 * A judgement of words that is asked of the same few again and again: it is made once for each, and remembered in bounded memory.
 * @param judge gives the same for the same word, and never `undefined`.
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
