import { distance } from 'fastest-levenshtein';

/**
 * Up to three similar candidates, nearest first.
 * @param limit the maximum edit distance; default: half of the word's length, at least 2
 */
export function nearest(
  word: string,
  candidates: readonly string[],
  limit = Math.max(2, Math.floor(word.length / 2)),
): string[] {
  return candidates
    .map(candidate => ({ candidate, far: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, far }) => far <= limit || candidate.startsWith(word))
    .sort((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/** `Did you mean "a" or "b"?`, or nothing. */
export function didYouMean(word: string, candidates: readonly string[]): string {
  return offer(nearest(word, candidates));
}

/** `Did you mean …?` for given names. */
export function offer(found: readonly string[]): string {
  return found.length > 0 ? `Did you mean ${found.map(name => `"${name}"`).join(' or ')}?` : '';
}
